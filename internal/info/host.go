package info

import (
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid"
)

// Rail is a local address, and whether lanes are built on it.
type Rail struct {
	Interface string `json:"interface"` // or what was asked for and is not there
	Address   string `json:"address"`
	Bits      int    `json:"bits"` // of the network's prefix
	MTU       int    `json:"mtu"`
	Mbits     int    `json:"mbits,omitempty"` // speed, where the interface says it
	Usable    bool   `json:"usable"`
	Reason    string `json:"reason,omitempty"` // why not, or where only
}

// RailsOf are this host's, as the settings choose them: usable ones first, in the order in which lanes are built on them.
func RailsOf(s *braid.Settings) (list []Rail, err error) {
	var entries []string
	if text := value(s, "rails"); text != "auto" {
		entries = strings.Split(text, ",")
	}
	rails, err := braid.LocalRails(entries...)
	if err != nil {
		return nil, err
	}
	mtu := map[string]int{}
	if ifaces, err := net.Interfaces(); err == nil {
		for _, i := range ifaces {
			mtu[i.Name] = i.MTU
		}
	}
	for _, r := range rails {
		x := Rail{Interface: r.Interface, Bits: r.Network.Bits(), MTU: mtu[r.Interface], Mbits: int(r.Speed / 1e6), Usable: r.Usable, Reason: r.Reason}
		if r.Addr.IsValid() {
			x.Address = r.Addr.String()
		} else {
			x.Bits = 0
		}
		list = append(list, x)
	}
	return list, nil
}

// Limit is something of the system that bounds what can be done.
type Limit struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
	Unit  string `json:"unit"`
	Text  string `json:"text"`
}

// LimitsOf are those that can be found out here.
func LimitsOf() (list []Limit) {
	add := func(name string, value int64, unit, text string) {
		if value > 0 {
			list = append(list, Limit{name, value, unit, text})
		}
	}
	add("processors", int64(runtime.GOMAXPROCS(0)), "", "that Go programs here may use")
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		add("open_files", clamp(files.Cur), "", "files and sockets that a process may have: each lane takes one, and each address that is listened on; more: ulimit -n")
		add("open_files_most", clamp(files.Max), "", "up to this without being root")
	}
	low, high := portRange()
	if high > low {
		add("ports", high-low+1, "", "lanes that can be dialed from one address to one listener; more: sysctl net.ipv4.ip_local_port_range")
	}
	add("backlog", number("/proc/sys/net/core/somaxconn"), "", "connections that may wait at a listener, whatever tcp-backlog says; more: sysctl net.core.somaxconn")
	add("send_buffer", number("/proc/sys/net/core/wmem_max"), "bytes", "the most that tcp-send-buffer can have; more: sysctl net.core.wmem_max")
	add("receive_buffer", number("/proc/sys/net/core/rmem_max"), "bytes", "the most that tcp-receive-buffer can have; more: sysctl net.core.rmem_max")
	return list
}

// clamp: without a limit the system says the largest number it has.
func clamp(n uint64) int64 { return int64(min(n, 1<<62)) }

// number reads one from a file of the system; 0 if that isn't there.
func number(file string) int64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func portRange() (low, high int64) {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if words := strings.Fields(string(b)); err == nil && len(words) == 2 {
		low, _ = strconv.ParseInt(words[0], 10, 64)
		high, _ = strconv.ParseInt(words[1], 10, 64)
	}
	return low, high
}
