package handle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/openbraid/braid/internal/cost"
	"github.com/openbraid/braid/internal/delivery"
	"github.com/openbraid/braid/internal/outcome"
	"github.com/openbraid/braid/internal/request"
	"github.com/openbraid/braid/internal/sleep"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// toy is an engine whose requests end when a test says so.
type toy struct {
	request.Desk
	pool  request.Pool
	queue delivery.Queue
	above delivery.Queue
	bell  *os.File
}

func (e *toy) Turn() int               { return 0 }
func (e *toy) Flush()                  {}
func (e *toy) Watch(bool)              {}
func (e *toy) Deadline() time.Duration { return 0 }
func (e *toy) Calls() *delivery.Queue  { return &e.queue }
func (e *toy) Above() *delivery.Queue  { return &e.above }
func (e *toy) EventFDs() []int         { return []int{int(e.bell.Fd())} }
func (e *toy) Close() error            { return nil }
func (e *toy) Addr() string            { return "peer" }
func (e *toy) Cancel(r *request.Request) {
	e.Report(r, outcome.ErrCanceled)
}

func (e *toy) Abandon(r *request.Request, cause error) error {
	e.Report(r, cause)
	e.Release(r)
	return cause
}

func (e *toy) PostRoom() (*request.Request, error) {
	r := e.post()
	e.Report(r, nil)
	return r, nil
}

func (e *toy) post() *request.Request {
	r := e.pool.Get(request.Atomic, nil)
	r.Retired = true
	return r
}

func newDesk(t *testing.T, owned bool) (*Desk, *toy) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	e := &toy{bell: read}
	e.Desk = request.DeskOf(&e.pool, &e.queue)
	e.Shown = func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("shown: %w", err)
	}
	d := &Desk{Engine: e, Shown: e.Shown}
	d.Owned, d.Hear, d.Now = owned, func() {}, func() time.Duration { return max(1, time.Since(start)) }
	if err := d.Open(e, sleep.Adaptive); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); read.Close(); write.Close() })
	return d, e
}

// Invariant 1: however many copies of a handle there are, and whatever is done with each at once, one gives the request back; a later operation
// that uses the same request again is touched by none of them.
func TestGivenBackOnce(t *testing.T) {
	d, e := newDesk(t, false)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for range 200 {
		d.Lock()
		r := e.post()
		h := d.Of(r, nil)
		d.Unlock()
		var ends, told atomic.Int32
		tell := func(err error) {
			if err == nil {
				ends.Add(1)
			} else if !errors.Is(err, outcome.ErrRequest) {
				t.Error(err)
			}
			told.Add(1)
		}
		var all sync.WaitGroup
		askers := []func(){
			func() { _, err := h.Wait(ctx); tell(err) },
			func() { h.Then(tell) },
			func() { h.ThenResult(func(_ Result, err error) { tell(err) }) },
			func() { h.ThenInfo(func(_ Info, err error) { tell(err) }) },
		}
		for _, end := range askers {
			all.Go(end)
		}
		all.Go(func() {
			d.Lock()
			e.Report(r, nil)
			d.Unlock()
		})
		all.Wait()
		for end := time.Now().Add(20 * time.Second); int(told.Load()) < len(askers) || d.live(e) > 0; time.Sleep(50 * time.Microsecond) {
			if time.Now().After(end) {
				t.Fatalf("%d of %d were told; %d requests are out", told.Load(), len(askers), d.live(e))
			}
		}
		d.Lock()
		again := d.Of(e.post(), nil) // the same memory
		d.Unlock()
		h.Cancel()
		h.Release()
		if done, _, err := h.Test(); !done || !errors.Is(err, outcome.ErrRequest) {
			t.Fatal(done, err)
		}
		if done, _, _ := again.Test(); done || ends.Load() != 1 || d.live(e) != 1 {
			t.Fatalf("a stale handle ended another's operation; it ended %d times; %d are out", ends.Load(), d.live(e))
		}
		again.Release()
		again.Cancel() // by one who let go: nothing
		d.Lock()
		e.Report(r, nil)
		d.Unlock()
	}
}

func (d *Desk) live(e *toy) int {
	d.Lock()
	defer d.UnlockOnly()
	return e.pool.Live()
}

// A result is what its request brought, by each way to get it, and errors are as users see them.
func TestResults(t *testing.T) {
	d, e := newDesk(t, false)
	post := func() Handle {
		d.Lock()
		defer d.Unlock()
		r := e.post()
		r.Tag, r.Size, r.Word[0] = 5, 6, 7
		e.Report(r, outcome.ErrTruncated)
		return d.Of(r, nil)
	}
	told := make(chan error, 1)
	for name, get := range map[string]func(Handle) (Result, error){
		"Wait": func(h Handle) (Result, error) { return h.Wait(context.Background()) },
		"Test": func(h Handle) (Result, error) { _, res, err := h.Test(); h.Release(); return res, err },
		"ThenResult": func(h Handle) (got Result, err error) {
			h.ThenResult(func(res Result, err error) { got = res; told <- err })
			err = <-told
			return got, err
		},
	} {
		if res, err := get(post()); res != (Result{Tag: 5, Size: 6, Old: 7}) || !errors.Is(err, outcome.ErrTruncated) || err.Error()[:6] != "shown:" {
			t.Error(name, res, err)
		}
	}
	ended := d.Refused("put", outcome.ErrLimit)
	if _, err := ended.Wait(context.Background()); !errors.Is(err, outcome.ErrLimit) {
		t.Error(err)
	}
	var zero Handle
	if done, _, err := zero.Test(); !done || err != nil {
		t.Error(done, err)
	}
}

// How an operation went is asked of what is held, and says nothing of another's that uses the request again, of a flush, or of what was refused.
func TestInfo(t *testing.T) {
	d, e := newDesk(t, false)
	d.Last = &request.Once{}
	one, two := wire.Instance{Opener: wire.Dialer, N: 1}, wire.Instance{Opener: wire.Dialer, N: 2}
	d.Lock()
	r := e.pool.Get(request.Put, nil)
	r.Retired, r.Posted = true, 70
	h := d.Of(r, nil)
	r.Trace.Went(one, &transport.Frame{})
	r.Trace.Went(two, &transport.Frame{})
	r.Replayed(one)
	for n := range uint64(9) { // more than it has names for
		r.Replayed(wire.Instance{Opener: wire.Acceptor, N: n % 5})
	}
	e.Report(r, nil)
	d.Unlock()
	i := h.Info()
	if !i.Known || i.Protocol != cost.Spread || i.Bytes != 70 || i.Posts != 2 || i.Again != 10 || i.Lanes[0] != one || i.Lanes[1] != two || int(i.On) <= len(i.Lanes) {
		t.Errorf("%+v", i)
	}
	if s := i.String(); s != "spread frames, 70 bytes in 2 frames on d1, d2, a0, a1 and more, 10 of them again" {
		t.Error(s)
	}
	if w, err := h.WaitInfo(context.Background()); err != nil || w != i {
		t.Errorf("%+v, %v", w, err)
	}
	d.Lock()
	again := d.Of(e.pool.Get(request.Put, nil), nil)
	flush := d.Of(e.pool.Get(request.Flush, nil), nil)
	none := d.Flushed(nil, nil)
	refused := d.Of(nil, outcome.ErrLimit)
	*d.Last = request.Once{End: request.Mapped, Bytes: 9}
	mapped := d.Of(nil, nil)
	d.Unlock()
	for name, h := range map[string]Handle{"one that was given back": h, "a flush": flush, "one of nothing": none, "one that was refused": refused, "nobody's": {}} {
		if i := h.Info(); i != (Info{}) {
			t.Errorf("%s says %+v", name, i)
		}
	}
	if i := again.Info(); !i.Known || i.Posts != 0 || i.On != 0 {
		t.Errorf("what is posted later begins with %+v", i)
	}
	if i, err := mapped.WaitInfo(context.Background()); err != nil || i.Protocol != cost.Mapped || i.Bytes != 9 {
		t.Errorf("%+v, %v", i, err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, h := range []Handle{flush, none, refused, again} { // the last one is waited for in vain
		if i, _ := h.WaitInfo(over); i != (Info{}) {
			t.Errorf("nothing is to be said, and yet: %+v", i)
		}
	}
}

// Invariant 2: inside user code of an Owned worker nothing that waits is posted. Do waits for room as long as there is none.
func TestDo(t *testing.T) {
	d, e := newDesk(t, true)
	posts := 0
	post := func() (*request.Request, error) {
		if posts++; posts < 3 {
			return nil, outcome.ErrBackPressure
		}
		return nil, nil
	}
	if _, err := d.Do(context.Background(), e, post); err != nil || posts != 3 {
		t.Error(posts, err)
	}
	d.Lock()
	h := d.Of(e.post(), nil)
	e.queue.Done(func(error) {
		if _, err := d.Do(context.Background(), e, post); !errors.Is(err, outcome.ErrInCallback) || posts != 3 {
			t.Error(posts, err)
		}
		if _, err := h.Wait(context.Background()); !errors.Is(err, outcome.ErrInCallback) {
			t.Error(err)
		}
	}, nil)
	d.Unlock()
	d.RunCalls()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := h.Wait(ctx); !errors.Is(err, context.Canceled) || e.pool.Live() != 0 { // it was still the caller's, and is let go of now
		t.Error(err, e.pool.Live())
	}
}

// A handle stays in registers as long as it has four words.
func TestFourWords(t *testing.T) {
	if size, word := unsafe.Sizeof(Handle{}), unsafe.Sizeof(uintptr(0)); size > 4*word {
		t.Errorf("a handle has %d words", size/word)
	}
}
