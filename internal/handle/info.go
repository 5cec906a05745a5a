package handle

import (
	"context"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/request"
)

// Info is how an operation went so far.
type Info struct {
	Protocol cost.Protocol
	Bytes    uint64
	request.Trace
}

func infoOf(r *request.Request) Info {
	return Info{Protocol: r.Protocol(), Bytes: r.Moved(), Trace: r.Trace}
}

// Info is how the operation went so far; nothing of one that was given back.
func (h Handle) Info() (i Info, ok bool) {
	switch {
	case h.r != nil:
		h.d.Lock()
		defer h.d.UnlockOnly()
		if h.stale() || !h.r.Moves() {
			return i, false
		}
		return infoOf(h.r), true
	case h.end == nil || h.end.Err != nil:
		return i, false
	}
	return Info{h.end.Protocol, h.n, h.end.Trace}, true
}

// WaitInfo is Wait, and says how the operation went: nothing, if the context ended first.
func (h Handle) WaitInfo(ctx context.Context) (i Info, err error) {
	if h.r == nil {
		i, _ = h.Info()
		return i, h.err()
	}
	if err := h.claim(); err != nil {
		return i, err
	}
	if done, err := h.d.Crank.Wait(ctx, h.r); !done {
		return i, h.d.shown(err)
	}
	h.d.Lock()
	defer h.d.Unlock()
	i = infoOf(h.r)
	_, err = h.d.take(h.r)
	return i, err
}
