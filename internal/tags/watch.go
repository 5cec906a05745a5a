package tags

import (
	"slices"

	"github.com/openbraid/braid/internal/match"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
)

// watch is somebody who waits until a message is there, and leaves it where it is.
type watch struct {
	want match.Want
	r    *request.Request
}

// PostProbe is Probe that waits until there is such a message: one that no receive takes.
func (t *Tags) PostProbe(w match.Want) (*request.Request, error) {
	u := t.Probe(w)
	if u == nil {
		if err := t.mayWait(w); err != nil {
			return nil, err
		}
	}
	r := t.o.Pool.Get(request.Receive, t)
	if u != nil {
		t.saw(r, u)
	} else {
		t.watches = append(t.watches, watch{w, r})
	}
	return r, nil
}

// saw ends who waited for a message.
func (t *Tags) saw(r *request.Request, u *Message) {
	r.Tag, r.Size, r.Result, r.Retired = u.Tag, u.Size, u.From, true
	t.o.Report(r, nil)
}

// waits: a message is there that nobody has received.
func (t *Tags) waits(u *Message) {
	t.watches = slices.DeleteFunc(t.watches, func(w watch) bool {
		takes := w.want.Takes(u.Tag, u.From)
		if takes {
			t.saw(w.r, u)
		}
		return takes
	})
}

// unwatch ends those who wait for a message that won't come, or don't want to any more.
func (t *Tags) unwatch(over func(watch) bool, err error) {
	t.watches = slices.DeleteFunc(t.watches, func(w watch) bool {
		end := over(w)
		if end {
			t.end(w.r, w.want, err)
		}
		return end
	})
}

// cancelWatch is Cancel of one of them.
func (t *Tags) cancelWatch(r *request.Request) {
	t.unwatch(func(w watch) bool { return w.r == r }, outcome.ErrCanceled)
}
