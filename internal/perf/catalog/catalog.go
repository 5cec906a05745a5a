package catalog

import (
	"fmt"
	"strings"
)

// Test is one row of the table of tests.
type Test struct {
	Name    string
	Help    string
	Latency bool // a ping-pong
	Put     bool
	Signal  bool // with a word behind each put
	Get     bool
	Atomic  bool
	Fetch   bool // it brings what the word was
	Swaps   bool
	Tag     bool
	Stream  bool // of bytes
	Sync    bool // it is done when it is matched
	Offer   bool // large ones are read by their handler
	Window  int
}

// Bandwidth is the test of the same operation with many under way.
func (t *Test) Bandwidth() string { return strings.Replace(t.Name, "_lat", "_bw", 1) }

// tests is what there is. A new operation of the API gets its row here, and its poster in internal/perf/window.go.
var tests = []Test{
	{Name: "put_lat", Help: "put latency", Latency: true, Put: true, Window: 1},
	{Name: "put_bw", Help: "put bandwidth / message rate", Put: true, Window: 32},
	{Name: "put_signal_lat", Help: "latency of a put with a signal", Latency: true, Put: true, Signal: true, Window: 1},
	{Name: "put_signal_bw", Help: "bandwidth / rate of puts with a signal each", Put: true, Signal: true, Window: 32},
	{Name: "get", Help: "get latency / bandwidth / message rate", Get: true, Window: 1},
	{Name: "add", Help: "atomic add message rate", Atomic: true, Window: 32},
	{Name: "fadd", Help: "atomic fetch-and-add latency / message rate", Atomic: true, Fetch: true, Window: 1},
	{Name: "swap", Help: "atomic swap latency / message rate", Atomic: true, Fetch: true, Swaps: true, Window: 1},
	{Name: "cswap", Help: "atomic compare-and-swap latency / message rate", Atomic: true, Fetch: true, Swaps: true, Window: 1},
	{Name: "am_lat", Help: "active message latency", Latency: true, Window: 1},
	{Name: "am_bw", Help: "active message bandwidth / message rate", Window: 32},
	{Name: "am_offer_lat", Help: "offered active message latency, both ways read by their handlers", Latency: true, Offer: true, Window: 1},
	{Name: "am_offer_bw", Help: "offered active message bandwidth / message rate", Offer: true, Window: 32},
	{Name: "tag_lat", Help: "tagged message latency", Latency: true, Tag: true, Window: 1},
	{Name: "tag_bw", Help: "tagged message bandwidth / message rate", Tag: true, Window: 32},
	{Name: "tag_sync_lat", Help: "synchronous tagged message latency", Latency: true, Tag: true, Sync: true, Window: 1},
	{Name: "tag_sync_bw", Help: "synchronous tagged message bandwidth / message rate", Tag: true, Sync: true, Window: 32},
	{Name: "stream_lat", Help: "byte stream latency", Latency: true, Stream: true, Window: 1},
	{Name: "stream_bw", Help: "byte stream bandwidth / write rate", Stream: true, Window: 1},
}

// Names are those of all, each with what it measures.
func Names() (list [][2]string) {
	for _, t := range tests {
		list = append(list, [2]string{t.Name, t.Help})
	}
	return list
}

// Lookup finds a test by its name, or by that with ucp_ in front of it. The error names all that there are.
func Lookup(name string) (Test, error) {
	short := strings.TrimPrefix(name, "ucp_")
	var names []string
	for _, t := range tests {
		if t.Name == short {
			return t, nil
		}
		names = append(names, t.Name)
	}
	have := strings.Join(names, ", ")
	if name == "" {
		return Test{}, fmt.Errorf("which test? -t %s", have)
	}
	return Test{}, fmt.Errorf("-t %s: no such test; there are %s", name, have)
}

// Waits says whether the calls of a test wait, so that both sides need shared workers.
func Waits(name string) bool {
	t, err := Lookup(name)
	return err == nil && t.Stream
}
