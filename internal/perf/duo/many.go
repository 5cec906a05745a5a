package duo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/tcp"
)

// Many is two workers of one process with many endpoints between them, polled in turns.
type Many struct {
	Duo
	ln  *braid.Listener
	eps []*braid.Endpoint
	got int
}

// NewMany makes the workers, over tcp or shm; Grow connects them.
func NewMany(kind string) (*Many, error) {
	m := &Many{}
	for i := range m.nodes {
		t := tcp.New(tcp.Options{})
		if kind == "shm" {
			t = shm.New(shm.Options{Limit: 1 << 40, PeerLimit: 1 << 40})
		}
		n, err := braid.Open(braid.Options{Owned: true, Lanes: 1, Transports: []transport.Transport{t}})
		if err == nil {
			m.nodes[i] = n
			m.w[i], err = n.NewWorker()
		}
		if err != nil {
			m.Close()
			return nil, err
		}
	}
	m.w[1].HandleAM(1, func(*braid.Message) { m.got++ })
	var err error
	if m.ln, err = m.w[1].Listen("127.0.0.1:0"); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Grow connects until there are n endpoints.
func (m *Many) Grow(ctx context.Context, n int) error {
	accepted := make(chan error, 1)
	addr, more := m.ln.Addr(), n-len(m.eps)
	go func() { // owns the second worker until it says so
		for range more {
			if _, err := m.ln.Accept(ctx); err != nil {
				accepted <- err
				return
			}
		}
		accepted <- nil
	}()
	var err error
	for len(m.eps) < n && err == nil {
		var ep *braid.Endpoint
		if ep, err = m.w[0].Dial(ctx, addr); err == nil {
			m.eps = append(m.eps, ep)
		}
	}
	return errors.Join(err, <-accepted)
}

// Hop is what it takes until a message of 8 bytes is handled, in microseconds, one at a time: all go over the first of the endpoints, or over one after the other. The median.
func (m *Many) Hop(n int, all bool) float64 {
	payload := make([]byte, 8)
	const batch = 50
	var times []time.Duration
	for k := 0; k < n; k += batch {
		begun := time.Now()
		for i := range batch {
			ep := m.eps[0]
			if all {
				ep = m.eps[(k+i)%len(m.eps)]
			}
			want := m.got + 1
			ep.PostAM(1, nil, payload).Release()
			for m.got < want {
				m.turn()
			}
		}
		times = append(times, time.Since(begun)/batch)
	}
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / 1e3
}

// Rate is how many messages of 8 bytes a second are handled, 32 under way.
func (m *Many) Rate(n int, all bool) float64 {
	payload := make([]byte, 8)
	begun, first := time.Now(), m.got
	for i := range n {
		ep := m.eps[0]
		if all {
			ep = m.eps[i%len(m.eps)]
		}
		ep.PostAM(1, nil, payload).Release()
		for first+i+1-m.got >= 32 {
			m.turn()
		}
	}
	for m.got-first < n {
		m.turn()
	}
	return float64(n) / time.Since(begun).Seconds()
}

// Resident is how much memory the process has, in bytes, that which it shares with itself counted once.
func Resident() (int, error) {
	b, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		var kB int
		if _, err := fmt.Sscanf(line, "Pss: %d kB", &kB); err == nil {
			return kB << 10, nil
		}
	}
	return 0, errors.New("/proc/self/smaps_rollup has no Pss")
}
