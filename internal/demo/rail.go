package demo

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
)

// lanes of the demo.
const lanes = 2

// rails are the two ways on which the lanes run.
type rails struct {
	Addrs [lanes]string // of this host; the same one twice where there is no second one
	Names [lanes]string // for people, and for the injector's rules
}

// split says whether the rails differ by address.
func (r *rails) split() bool { return r.Addrs[0] != r.Addrs[1] }

// local are the addresses without repetition.
func (r *rails) local() []string {
	if r.split() {
		return r.Addrs[:]
	}
	return r.Addrs[:1]
}

// findRails looks which addresses can be bound. Where the second can't, both lanes use the first, told apart by their
// ports; note says so.
func findRails(want []string) (r rails, note string, err error) {
	if len(want) != lanes {
		return r, "", &UsageError{fmt.Sprintf("--rails %s: want %d addresses, as in --rails 127.0.0.1,127.0.0.2", strings.Join(want, ","), lanes)}
	}
	for i, s := range want {
		ip, err := netip.ParseAddr(strings.TrimSpace(s))
		if err != nil {
			return r, "", &UsageError{fmt.Sprintf("--rails: %q is not an IP address; write two of this host, as 127.0.0.1,127.0.0.2", s)}
		}
		r.Addrs[i] = ip.String()
	}
	if err := canBind(r.Addrs[0]); err != nil {
		return r, "", fmt.Errorf("rail %s: %w; choose addresses of this host (--rails A,B)", r.Addrs[0], err)
	}
	if r.split() {
		if err := canBind(r.Addrs[1]); err != nil {
			note = fmt.Sprintf("%s can't be bound here (%v): both lanes run over %s, on ports of their own", r.Addrs[1], err, r.Addrs[0])
			r.Addrs[1] = r.Addrs[0]
		}
	}
	r.Names = r.Addrs
	if !r.split() {
		for i := range r.Names {
			r.Names[i] = fmt.Sprintf("%s#%d", r.Addrs[i], i)
		}
	}
	return r, note, nil
}

func canBind(addr string) error {
	ln, err := net.Listen("tcp", net.JoinHostPort(addr, "0"))
	if err != nil {
		return err
	}
	return ln.Close()
}

// fence stands before the injector. It tells the injector on which rail each stream runs, also where the address alone does not say
// so: then a new stream takes the place of one that is gone.
type fence struct {
	rails rails
	inj   *fault.Injector

	armed atomic.Pointer[trap]

	// atOnce: there are no writes here that could be cut in the middle. What is posted is under way, so that a trap springs as it is armed.
	atOnce bool

	mu     sync.Mutex
	inUse  [lanes]int     // streams that are open
	places map[string]int // local address of a stream -> rail
}

func newFence(r rails, inj *fault.Injector) *fence {
	return &fence{rails: r, inj: inj, places: map[string]int{}}
}

// Wrap implements transport.Wrapper.
func (f *fence) Wrap(s transport.Stream, local, remote string) transport.Stream {
	f.mu.Lock()
	i := f.choose(local)
	f.inUse[i]++
	f.places[local] = i
	f.mu.Unlock()
	return &fenced{Stream: f.inj.Wrap(s, f.rails.Names[i], remote), f: f, rail: i}
}

func (f *fence) choose(local string) int {
	if f.rails.split() {
		if host, _, err := net.SplitHostPort(local); err == nil && host == f.rails.Addrs[1] {
			return 1
		}
		return 0
	}
	if f.inUse[1] < f.inUse[0] {
		return 1
	}
	return 0
}

// railOf is the rail of a lane by its name, "local->remote"; -1 if it is none of ours.
func (f *fence) railOf(lane string) int {
	local, _, _ := strings.Cut(lane, "->")
	f.mu.Lock()
	defer f.mu.Unlock()
	if i, ok := f.places[local]; ok {
		return i
	}
	return -1
}

// trap is a rule that waits for a write worth being cut in the middle.
type trap struct {
	rule  fault.Rule
	rail  int
	least int    // bytes
	fired func() // told after the write
}

// arm has the next write of at least so many bytes on the rail cut in the middle.
func (f *fence) arm(t trap) {
	t.rule.Rail, t.rule.Start = f.rails.Names[t.rail], fault.Write
	if f.atOnce {
		t.rule.Start = fault.Now
		f.inj.Apply(t.rule)
		t.fired()
		return
	}
	f.armed.Store(&t)
}

// Writev implements transport.Stream.
func (s *fenced) Writev(p [][]byte) (int, error) {
	if t := s.f.armed.Load(); t != nil && t.rail == s.rail {
		n := 0
		for _, b := range p {
			n += len(b)
		}
		if n >= t.least && s.f.armed.CompareAndSwap(t, nil) {
			s.f.inj.Apply(t.rule)
			defer t.fired()
		}
	}
	return s.Stream.Writev(p)
}

// fenced is a stream that gives its place back when it is given up: what is dialed in its place may come before it is closed.
type fenced struct {
	transport.Stream
	f    *fence
	rail int
	once sync.Once
}

// Shutdown implements transport.Stream.
func (s *fenced) Shutdown() error {
	s.leave()
	return s.Stream.Shutdown()
}

// Close implements transport.Stream.
func (s *fenced) Close(reset bool) error {
	s.leave()
	return s.Stream.Close(reset)
}

func (s *fenced) leave() {
	s.once.Do(func() {
		s.f.mu.Lock()
		s.f.inUse[s.rail]--
		s.f.mu.Unlock()
	})
}
