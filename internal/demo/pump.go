package demo

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/demo/tally"
)

const (
	notesPerSecond = 1000
	// blocksPerSecond at least, so that also a small file is under way all the time.
	blocksPerSecond = 500
	// nap is how long the pump waits when there is nothing to do.
	nap = 500 * time.Microsecond
)

// pump is the load: it keeps blocks, words and messages under way until it is told to stop.
//
//	fill ──> blocks, words ──> flush ──> announcement ... release ──> fill
type pump struct {
	ep    *braid.Endpoint
	keys  keys
	out   outbox
	src   *source
	spec  spec
	chunk int
	begun time.Duration
	notes int

	ring, words []byte // what is being put
	sum         hash.Hash
	issued      tally.Totals // but for the messages
	window      uint64       // of the one that is open, or the last
	open        tally.Announcement

	sent     atomic.Uint64 // bytes of data, for who looks
	released atomic.Uint64 // windows
	told     atomic.Uint64 // windows announced
	dry      bool          // no data is left
	wake     chan struct{} // a window was released
	failed   failure
}

// keys are where the receiver wants things.
type keys struct{ ring, words braid.RKey }

// failure keeps the first error.
type failure struct {
	mu  sync.Mutex
	err error
}

func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func newPump(ep *braid.Endpoint, k keys, src *source, s spec) *pump {
	p := &pump{
		ep: ep, keys: k, src: src, spec: s, chunk: tally.MaxData, begun: now(),
		ring: make([]byte, tally.RingBytes), words: make([]byte, tally.WordsBytes), sum: sha256.New(), wake: make(chan struct{}, 1),
	}
	p.out.ep = ep
	if s.Bytes >= 0 {
		perSecond := max(1, int64(float64(s.Bytes)/s.Time.Seconds()))
		p.chunk = int(min(tally.MaxData, max(1, perSecond/blocksPerSecond)))
	}
	return p
}

// progress is how much of the run is done, from 0 to 1.
func (p *pump) progress() float64 {
	done := min(1, (now()-p.begun).Seconds()/p.spec.Time.Seconds())
	if p.spec.Bytes > 0 {
		done = min(done, float64(p.sent.Load())/float64(p.spec.Bytes))
	}
	return done
}

// run goes on until the data is moved, cutting is over, and each window announced.
func (p *pump) run(ctx context.Context, cutting func() bool) error {
	for {
		if err := p.failed.get(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.note(); err != nil {
			return err
		}
		more, err := p.fill(cutting)
		if err != nil {
			return err
		}
		if more {
			continue
		}
		p.closeWindow()
		if p.progress() >= 1 && !cutting() && p.told.Load() == p.window {
			return nil
		}
		p.rest(ctx)
	}
}

func (p *pump) rest(ctx context.Context) {
	t := time.NewTimer(nap)
	defer t.Stop()
	select {
	case <-p.wake:
	case <-t.C:
	case <-ctx.Done():
	}
}

// note sends the messages that are due, those first that found no room before.
func (p *pump) note() error {
	if err := p.out.retry(); err != nil {
		return err
	}
	for due := int((now() - p.begun).Seconds() * notesPerSecond); p.notes < due; p.notes++ {
		if ok, err := p.out.send(tally.KindNote, nil); !ok {
			return err
		}
	}
	return nil
}

// mayFill says whether a block may be posted now.
func (p *pump) mayFill(cutting func() bool) bool {
	switch {
	case p.dry:
		return false
	case p.spec.Bytes < 0: // as much as goes, until the time is over
		if p.progress() >= 1 && !cutting() {
			return false
		}
	case float64(p.sent.Load()) >= float64(p.spec.Bytes)*(now()-p.begun).Seconds()/p.spec.Time.Seconds():
		return false // ahead of time
	}
	return len(p.open.Sums) > 0 || p.window-p.released.Load() < tally.Windows
}

// fill posts one block and its word.
func (p *pump) fill(cutting func() bool) (more bool, err error) {
	if !p.mayFill(cutting) {
		return false, nil
	}
	number := p.issued.Blocks + 1
	at := tally.SlotOf(number)
	s := tally.Slot(p.ring, at)
	n, err := p.src.read(s[tally.BlockHead : tally.BlockHead+p.chunk])
	if n == 0 || err != nil {
		p.dry = true
		return false, err
	}
	if len(p.open.Sums) == 0 {
		p.window++
		p.open = tally.Announcement{Window: p.window, First: number}
	}
	p.sum.Write(s[tally.BlockHead : tally.BlockHead+n])
	p.open.Sums = append(p.open.Sums, tally.SealBlock(s, number, n))
	w := p.words[tally.WordOffset(at):tally.WordOffset(at+1)]
	tally.SealWord(w, number)
	if err := p.put(s[:tally.BlockHead+n], p.keys.ring, uint64(tally.SlotOffset(at))); err != nil {
		return false, err
	}
	if err := p.put(w, p.keys.words, uint64(tally.WordOffset(at))); err != nil {
		return false, err
	}
	p.issued.Blocks++
	p.issued.Words++
	p.issued.Bytes += uint64(n)
	p.sent.Add(uint64(n))
	if len(p.open.Sums) == tally.WindowBlocks {
		p.closeWindow()
	}
	return true, nil
}

// put posts without waiting: the flush of its window says when the source may be used again.
func (p *pump) put(src []byte, key braid.RKey, offset uint64) error {
	q := p.ep.PostPut(src, key, offset)
	if done, err := q.Test(); done && err != nil {
		return err
	}
	q.Release()
	return nil
}

// closeWindow flushes what is open. Once the flush says that all of it is executed, it is announced.
func (p *pump) closeWindow() {
	if len(p.open.Sums) == 0 {
		return
	}
	payload := p.open.Encode()
	p.open.Sums = nil
	p.ep.PostFlush().Then(func(err error) {
		if err == nil {
			err = p.out.post(tally.KindAnnounce, payload)
		}
		if err != nil {
			p.failed.set(err)
		}
		p.told.Add(1)
	})
}

// release: the receiver gives a window back. They must come back in order, each once.
func (p *pump) release(window uint64) {
	if !p.released.CompareAndSwap(window-1, window) {
		p.failed.set(errRelease)
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

var errRelease = errors.New("a message of the receiver was lost, doubled, or came out of order: windows must come back one by one")
