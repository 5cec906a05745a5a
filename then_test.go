package braid_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// quiet is a Shared worker that nothing wakes by chance.
func quiet() braid.Options {
	return braid.Options{ErrorMode: braid.None, Times: braid.Times{Keepalive: time.Hour}}
}

// TestThenOfWhatHasEnded: the callback of a request that has ended comes soon, though nobody else moves the worker, and
// never from inside Then, whose caller may hold locks that the callback takes.
func TestThenOfWhatHasEnded(t *testing.T) {
	p := connect(t, quiet(), quiet())
	ended := func(r braid.Request) braid.Request {
		for done := false; !done; time.Sleep(time.Millisecond) {
			done, _ = r.Test()
		}
		return r
	}
	for _, c := range []struct {
		name string
		post func() braid.Request
	}{
		{"ended at once", func() braid.Request { return p.a.PostAM(7, nil, nil) }},
		{"ended meanwhile", func() braid.Request { return ended(p.a.PostAM(7, nil, make([]byte, 4<<20))) }},
	} {
		p.bw.HandleAM(7, func(*braid.Message) {})
		r := c.post()
		time.Sleep(50 * time.Millisecond) // the worker falls asleep
		var mu sync.Mutex
		called := make(chan error, 1)
		mu.Lock()
		r.Then(func(err error) {
			mu.Lock()
			defer mu.Unlock()
			called <- err
		})
		mu.Unlock()
		select {
		case err := <-called:
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		case <-time.After(3 * time.Second):
			t.Errorf("%s: the callback did not come", c.name)
		}
	}
}

// TestThenAfterClose: also of a closed worker the callback comes.
func TestThenAfterClose(t *testing.T) {
	p := connect(t, quiet(), quiet())
	p.aw.Close()
	called := false
	p.a.PostAM(7, nil, nil).Then(func(err error) { called = err != nil })
	if !called {
		t.Error("the callback did not come")
	}
}

// TestCallbacksAreNotForgotten: many goroutines make progress at once, and whoever brings a callback may find that somebody
// else runs callbacks just then. Each is run all the same, without anything else happening.
func TestCallbacksAreNotForgotten(t *testing.T) {
	p := connect(t, quiet(), quiet())
	p.bw.HandleAM(7, func(*braid.Message) {})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for range 200 {
		const posters, each = 4, 4
		var left atomic.Int32
		left.Store(posters * each)
		all := make(chan struct{})
		for range posters {
			go func() {
				for range each {
					p.a.PostFlush().Then(func(error) {})
					p.a.PostAM(7, nil, make([]byte, 20<<10)).Then(func(error) {
						if left.Add(-1) == 0 {
							close(all)
						}
					})
					p.a.Flush(ctx)
				}
			}()
		}
		select {
		case <-all:
		case <-time.After(5 * time.Second):
			t.Fatalf("%d callbacks did not come", left.Load())
		}
	}
}
