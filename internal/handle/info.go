package handle

import (
	"context"
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/request"
)

// Info is how an operation went so far.
type Info struct {
	Known    bool // else the rest says nothing: it was not posted, has no way, as a flush, or nobody looked
	Protocol cost.Protocol
	Bytes    uint64
	request.Trace
}

// Names are those of the first lanes that it has been on.
func (i Info) Names() (lanes []string) {
	for _, id := range i.Lanes[:min(int(i.On), len(i.Lanes))] {
		lanes = append(lanes, id.String())
	}
	return lanes
}

// String says it in a line, for people.
func (i Info) String() string {
	if !i.Known {
		return "not known"
	}
	s := fmt.Sprintf("%s, %d bytes in %d frames", i.Protocol, i.Bytes, i.Posts)
	if i.Posts == 1 {
		s = strings.TrimSuffix(s, "s")
	}
	if lanes := i.Names(); lanes != nil {
		s += " on " + strings.Join(lanes, ", ")
	}
	if int(i.On) > len(i.Lanes) {
		s += " and more"
	}
	if i.Again > 0 {
		s += fmt.Sprintf(", %d of them again", i.Again)
	}
	return s
}

func infoOf(r *request.Request) Info {
	if !r.Moves() {
		return Info{}
	}
	return Info{Known: true, Protocol: r.Protocol(), Bytes: r.Moved(), Trace: r.Trace}
}

// Info is how the operation went so far; nothing of one that was given back.
func (h Handle) Info() Info {
	if h.r == nil {
		return h.once()
	}
	h.d.Lock()
	defer h.d.UnlockOnly()
	if h.stale() {
		return Info{}
	}
	return infoOf(h.r)
}

// once is how an operation went that ended when it was posted.
func (h Handle) once() Info {
	if h.end == nil || h.end.Err != nil {
		return Info{}
	}
	return Info{Known: true, Protocol: h.end.Protocol, Bytes: h.n, Trace: h.end.Trace}
}

// WaitInfo is Wait, and says how the operation went: nothing, if the context ended first.
func (h Handle) WaitInfo(ctx context.Context) (i Info, err error) {
	if h.r == nil {
		return h.once(), h.err()
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

// ThenInfo is Then, and says how the operation went: nothing of one that was given back before.
func (h Handle) ThenInfo(fn func(Info, error)) {
	h.then(func(err error) {
		h.d.Lock()
		i := infoOf(h.r)
		h.d.Engine.Release(h.r)
		h.d.UnlockOnly()
		fn(i, err)
	}, func(err error) {
		if h.r != nil { // another one's
			fn(Info{}, err)
			return
		}
		fn(h.once(), err)
	}, true)
}
