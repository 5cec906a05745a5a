package braid

import (
	"context"

	"github.com/openbraid/braid/internal/handle"
)

// Info is how an operation went.
//
// Source: ucp_request_attr_t.debug_string.
type Info struct {
	Protocol string // one of docs/explain.md: "eager copied", "striped parts", ...
	Bytes    uint64 // of payload that left, or was asked for; of a receive: of the message
	Frames   int    // that carried it
	Replayed int    // frames that were posted again, since a lane was lost
	i        handle.Info
}

// Lanes are the lanes that it has been on, by Lane.Instance, at most the first four, and String says whether there were more; none, if it was done in memory that is mapped, or is a receive of what was sent
// unasked.
func (i Info) Lanes() []string { return i.i.Names() }

// String says it in a line.
func (i Info) String() string { return i.i.String() }

func infoOf(i handle.Info) Info {
	if !i.Known {
		return Info{}
	}
	return Info{i.Protocol.String(), i.Bytes, int(i.Posts), int(i.Again), i}
}

// Info is how the operation went so far. It is final when the operation is executed: that of a put whose request is kept until after a Flush has all
// that was posted again; of one that ended when it was posted nobody looks later. ok is false of a request that was given back, or was never posted, and of what moves no
// bytes, as a flush. Asking costs the operation nothing.
//
// Source: ucp_request_query.
func (q Request) Info() (i Info, ok bool) {
	h := q.h.Info()
	return infoOf(h), h.Known
}

// ThenInfo is Then that also says how the operation went, as WaitInfo does.
func (q Request) ThenInfo(fn func(Info, error)) {
	q.h.ThenInfo(func(i handle.Info, err error) { fn(infoOf(i), err) })
}

// WaitInfo is Wait that also says how the operation went: what Info would say at its end. If the context is over first, it says
// nothing: the zero Info.
func (q Request) WaitInfo(ctx context.Context) (Info, error) {
	h, err := q.h.WaitInfo(ctx)
	return infoOf(h), err
}
