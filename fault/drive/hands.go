package drive

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/openbraid/braid/fault"
)

// Hands do what rules say of processes and interfaces. The zero value knows no peer.
type Hands struct {
	mu     sync.Mutex
	peer   int
	downed map[string]bool // interfaces that were taken down here
}

// SetPeer names the process that "kill peer" means.
func (h *Hands) SetPeer(pid int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.peer = pid
}

// Do is a fault.Injector's Outside.
func (h *Hands) Do(r fault.Rule, begin bool) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Action == fault.Kill {
		return h.kill(r, begin)
	}
	return h.iface(r.Device, begin)
}

func (h *Hands) kill(r fault.Rule, begin bool) (int, error) {
	sig := syscall.SIGKILL
	switch {
	case r.Stop && begin:
		sig = syscall.SIGSTOP
	case r.Stop:
		sig = syscall.SIGCONT
	case !begin:
		return 0, nil
	}
	if h.peer <= 0 {
		return 0, errors.New("which process the peer is nobody knows here: kill peer is for braid perftest --spawn; a process of your own gets its signal by kill(1)")
	}
	if err := syscall.Kill(h.peer, sig); err != nil {
		return 0, fmt.Errorf("%v for process %d: %w", sig, h.peer, err)
	}
	if begin {
		return 1, nil
	}
	return 0, nil
}

func (h *Hands) iface(name string, down bool) (int, error) {
	if !down && !h.downed[name] {
		return 0, nil
	}
	was, err := setLink(name, !down)
	switch {
	case errors.Is(err, os.ErrPermission):
		return 0, fmt.Errorf("interface %s: %w: that needs CAP_NET_ADMIN", name, err)
	case err != nil:
		return 0, fmt.Errorf("interface %s: %w", name, err)
	case down && was:
		if h.downed == nil {
			h.downed = map[string]bool{}
		}
		h.downed[name] = true
		return 1, nil
	}
	delete(h.downed, name)
	return 0, nil
}
