package perf

import (
	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/catalog"
	"github.com/openbraid/braid/internal/perf/gather"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// tags are the receives that the server has posted. A message's tag is its number, so that it needs no header.
type tags struct {
	posted []braid.TagRecv
	bufs   [][]byte
	next   int             // that is due first
	pieces *gather.Buffers // instead of receives: what has come is taken out into a list of buffers
}

// ahead is how many receives are posted, as long as they fit into so many bytes.
const ahead, aheadBytes = 64, 64 << 20

func postTag(t *catalog.Test, ep *braid.Endpoint, seq uint64, body []byte) braid.Request {
	if t.Sync {
		return ep.PostTagSync(seq, body)
	}
	return ep.PostTag(seq, body)
}

func (ses *session) expectTags() {
	if !ses.test.Tag {
		return
	}
	ses.tags.bufs = ses.places(min(ahead, max(1, aheadBytes/max(1, ses.size))))
	for _, b := range ses.tags.bufs {
		ses.tags.posted = append(ses.tags.posted, ses.ep.PostRecvTag(b, 0, braid.AnyTag))
	}
}

// places are the memory of n receives: one for all, as ucx_perftest has it, unless it is looked at. 64 of 1 MiB each are in no cache, and what is measured is memory then.
func (ses *session) places(n int) [][]byte {
	bufs := make([][]byte, n)
	for i := range bufs {
		if bufs[i] = bufs[0]; i == 0 || ses.ledger != nil {
			bufs[i] = make([]byte, ses.size)
		}
	}
	return bufs
}

// takeTags takes those that have come, and says whether there were any.
func (ses *session) takeTags(s *server) (any bool) {
	for i := 0; i < ahead && ses.takeTag(s); i++ {
		any = true
	}
	return any
}

// takeTag looks whether the next message has come, answers it in a latency test, and posts its receive again.
func (ses *session) takeTag(s *server) bool {
	t := &ses.tags
	if t.pieces != nil {
		return ses.takePieces(s)
	}
	if len(t.posted) == 0 {
		return false
	}
	done, info, err := t.posted[t.next].Test()
	if !done || err != nil {
		return false
	}
	t.posted[t.next].Release()
	b := t.bufs[t.next]
	ses.arrived++
	if ses.ledger != nil {
		ses.ledger.Numbered(info.Tag, b[:info.Len], false)
	}
	if ses.test.Latency {
		if ses.verify {
			ses.body = make([]byte, len(b)) // the library's until it is acknowledged
			pattern.Fill(ses.body, pattern.Base(info.Tag, true))
		}
		postTag(&ses.test, ses.ep, info.Tag, ses.body).Release()
	}
	t.posted[t.next] = ses.ep.PostRecvTag(b, 0, braid.AnyTag)
	t.next = (t.next + 1) % len(t.posted)
	return true
}

func (ses *session) dropTags() {
	for _, r := range ses.tags.posted {
		r.Cancel()
		r.Release()
	}
}

// hopTag is one round trip of tagged messages.
func (c *client) hopTag(seq uint64) error {
	if c.p.Verify {
		pattern.Fill(c.body, pattern.Base(seq, false))
	}
	if c.back == nil {
		c.back = make([]byte, len(c.body))
	}
	r := c.ep.PostRecvTag(c.back, seq, braid.ExactTag)
	if err := postTag(&c.test, c.ep, seq, c.body).Wait(c.ctx); err != nil {
		return err
	}
	for i := 1; ; i++ {
		if done, info, err := r.Test(); done {
			r.Release()
			if err == nil && c.ledger != nil {
				c.ledger.Numbered(info.Tag, c.back, true)
			}
			return err
		}
		if err := c.step(i); err != nil {
			return err
		}
	}
}
