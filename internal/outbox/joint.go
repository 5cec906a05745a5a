package outbox

import (
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
)

// PostFlushes is PostFlush of several boxes, also of those that are being closed; it ends with the last of them, with all their errors. What one waits for keeps no other
// from making progress. The request has no owner.
func PostFlushes(boxes []*Box, f Flushing, p *request.Pool) (*request.Request, error) {
	var whole *request.Request
	var errs error
	for _, b := range boxes {
		r, err := b.postFlush(f)
		errs = outcome.Both("flush", errs, err)
		if r == nil {
			continue
		}
		if whole == nil {
			whole = p.Get(request.Flush, nil)
		}
		r.PartOf, r.Held = whole, false
		whole.Replies++
	}
	if whole != nil {
		whole.Err = errs
		return whole, nil
	}
	return nil, errs
}

// tale is a refusal that a flush of several boxes tells when it ends, and of up to which operation.
type tale struct {
	b      *Box
	err    error
	issued uint64
}

// tales are those that such a flush has heard of.
func tales(whole *request.Request) []tale {
	all, _ := whole.Result.([]tale)
	return all
}

// partEnded: a flush that is part of another one ended.
func (b *Box) partEnded(whole *request.Request, err error) {
	whole.Replies--
	if !whole.Reported {
		whole.Err = outcome.Both("flush", whole.Err, err)
	}
	if whole.Replies > 0 {
		return
	}
	whole.Retired = true
	for _, t := range tales(whole) {
		if whole.Heard() && t.b.refusal.err == t.err && t.issued >= t.b.refusal.until {
			t.b.tell()
		}
	}
	whole.Result = nil
	if whole.Reported { // its user did not want to wait
		b.pool.Put(whole)
		return
	}
	b.host.Report(whole, whole.Err)
}
