package braid_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid"
)

// eventLoop is an event loop of the user's: an epoll of his own, with a worker's descriptor in it.
type eventLoop struct {
	w        *braid.Worker
	set      int
	wakes    int // that found something
	spurious int // that found nothing
}

func newEventLoop(t *testing.T, w *braid.Worker, flags uint32) *eventLoop {
	t.Helper()
	fd, err := w.EventFD()
	if err != nil {
		t.Fatal(err)
	}
	l := &eventLoop{w: w}
	if l.set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(l.set) })
	if err := unix.EpollCtl(l.set, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | flags, Fd: int32(fd)}); err != nil {
		t.Fatal(err)
	}
	return l
}

// sleep arms and sleeps. It says whether the descriptor became readable within the time.
func (l *eventLoop) sleep(timeout time.Duration) bool {
	if !l.w.Arm() {
		return true
	}
	var ev [1]unix.EpollEvent
	for end := time.Now().Add(timeout); ; {
		n, err := unix.EpollWait(l.set, ev[:], int(max(0, (time.Until(end)+time.Millisecond-1).Milliseconds())))
		switch {
		case n > 0:
			return true
		case err != unix.EINTR:
			return false
		}
	}
}

// until runs the loop; false: it slept for all of patience.
func (l *eventLoop) until(done func() bool) bool {
	for woken := false; !done(); {
		n := 0
		for k := l.w.Progress(); k > 0; k = l.w.Progress() {
			n += k
		}
		if woken && n > 0 {
			l.wakes++
		} else if woken {
			l.spurious++
		}
		if done() {
			break
		}
		if woken = l.sleep(patience); !woken {
			return false
		}
	}
	return true
}

// TestF3_ArmHammer: ping-pongs in which both sides sleep for each answer. A lost wake-up is a hang. 20,000 of them, and a million with
// BRAID_SOAK=1.
func TestF3_ArmHammer(t *testing.T) {
	rounds := int64(20_000)
	switch {
	case os.Getenv("BRAID_SOAK") != "":
		rounds = 1_000_000
	case testing.Short():
		rounds = 5_000
	}
	for _, c := range []struct {
		name string
		edge uint32
	}{{"level", 0}, {"edge", unix.EPOLLET}} {
		t.Run(c.name, func(t *testing.T) {
			o := connectPolled(t, braid.Options{Owned: true, Times: braid.Times{Keepalive: time.Hour}})
			near, far := newEventLoop(t, o.aw, c.edge), newEventLoop(t, o.bw, c.edge)
			var answers, over atomic.Int64
			o.aw.HandleAM(2, func(*braid.Message) { answers.Add(1) })
			o.bw.HandleAM(1, func(m *braid.Message) { m.Endpoint().PostAM(2, nil, m.Payload()).Release() })
			var side sync.WaitGroup
			side.Go(func() {
				if !far.until(func() bool { return over.Load() > 0 }) {
					t.Errorf("the answering side slept for %v", patience)
				}
			})
			for n := int64(1); n <= rounds; n++ {
				o.a.PostAM(1, nil, []byte("12345678")).Release()
				if !near.until(func() bool { return answers.Load() >= n }) {
					t.Errorf("no wake-up for answer %d", n)
					break
				}
			}
			over.Store(1)
			o.bw.Wake()
			side.Wait()
			t.Logf("%d rounds: %d and %d wake-ups, %d and %d that found nothing", rounds, near.wakes, far.wakes, near.spurious, far.spurious)
			// What the transport does without counting it (a late acknowledgement) looks like nothing, and is rare.
			if s := int64(near.spurious + far.spurious); s > rounds/10 {
				t.Errorf("%d wake-ups found nothing, in %d rounds", s, rounds)
			}
		})
	}
}

// TestF1_QuietAfterPeerLeft: once a peer has gone, whichever way, the descriptor does not go on to wake the loop.
func TestF1_QuietAfterPeerLeft(t *testing.T) {
	for _, c := range []struct {
		name  string
		mode  braid.ErrorMode
		leave func(*testing.T, *braid.Endpoint)
	}{
		{"closed", braid.Peer, func(t *testing.T, ep *braid.Endpoint) { go ep.Close(testContext(t)) }},
		{"aborted", braid.Failover, func(t *testing.T, ep *braid.Endpoint) { ep.Abort() }},
		{"gone", braid.None, func(t *testing.T, ep *braid.Endpoint) { ep.Worker().Node().Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := connect(t, braid.Options{ErrorMode: c.mode}, braid.Options{})
			n, err := braid.Open(braid.Options{Owned: true, ErrorMode: c.mode})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { n.Close() })
			w := newWorker(t, n)
			ep, err := w.Dial(testContext(t), p.ln.Addr())
			if err != nil {
				t.Fatal(err)
			}
			peer, err := p.ln.Accept(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			l := newEventLoop(t, w, 0)
			c.leave(t, peer)
			if !l.until(func() bool { return ep.Err() != nil }) {
				t.Fatal("it was not noticed")
			}
			turns, end := 0, time.Now().Add(time.Second)
			for ; time.Now().Before(end); turns++ {
				for w.Progress() > 0 {
				}
				l.sleep(time.Until(end))
			}
			t.Logf("%d turns in a second after the peer left", turns)
			if turns > 200 {
				t.Errorf("%d turns in a second after the peer left", turns)
			}
		})
	}
}

// TestArmSleepsUntilTimes: who sleeps on the descriptor is woken for what is due, too: both sides only ever sleep, and
// each still answers the other's probes and sends its own.
func TestArmSleepsUntilTimes(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true, Times: braid.Times{Keepalive: 50 * time.Millisecond, Peer: 2 * time.Second}})
	near, far := newEventLoop(t, o.aw, 0), newEventLoop(t, o.bw, unix.EPOLLET)
	end := time.Now().Add(3 * time.Second)
	over := func() bool { return time.Now().After(end) }
	var side sync.WaitGroup
	side.Go(func() { far.until(over) })
	near.until(over)
	side.Wait()
	if err := errors.Join(o.a.Err(), o.b.Err()); err != nil {
		t.Error(err)
	}
	if near.wakes < 10 {
		t.Errorf("%d wake-ups in 3 s: nobody probed", near.wakes)
	}
	if all := near.wakes + near.spurious; all > 2000 {
		t.Errorf("%d wake-ups in 3 s", all)
	}
}

// TestArmSaysWhatIsDue: each reason not to sleep makes Arm false, or the descriptor readable.
func TestArmSaysWhatIsDue(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true, ErrorMode: braid.None, Times: braid.Times{Keepalive: time.Hour}})
	l := newEventLoop(t, o.aw, 0)
	settle := func() {
		t.Helper()
		if !eventually(func() bool { o.turn(); return o.aw.Arm() && !l.sleep(0) }) {
			t.Fatal("the worker does not come to rest")
		}
	}
	settle()
	o.aw.Wake()
	if o.aw.Arm() {
		t.Error("armed over a wake-up")
	}
	settle()
	if !o.aw.Arm() {
		t.Error("not armed at rest")
	}
	o.aw.Wake()
	if !l.sleep(0) {
		t.Error("a wake-up after Arm does not show")
	}
	settle()
	o.aw.HandleAM(1, func(*braid.Message) {})
	o.b.PostAM(1, nil, nil).Release()
	o.bw.Progress()
	if !eventually(func() bool { return !o.aw.Arm() }) {
		t.Error("armed over a message that is here")
	}
	settle()
	called := false
	r := o.a.PostAM(1, nil, nil) // ends at once, but what it sent is something to do, too
	settle()
	r.Then(func(error) { called = true })
	if o.aw.Arm() {
		t.Error("armed over a callback that is due")
	}
	if o.aw.Progress(); !called {
		t.Error("the callback did not come")
	}
	settle()
	got := false
	o.bw.HandleAM(1, func(*braid.Message) { got = true })
	o.a.PostAM(1, nil, nil).Release()
	o.aw.Arm() // sends what was posted: who sleeps now must not keep it
	if !eventually(func() bool { o.bw.Progress(); return got }) {
		t.Error("who arms keeps what was posted")
	}
	settle()
	if err := o.aw.Close(); err != nil {
		t.Fatal(err)
	}
	if o.aw.Arm() {
		t.Error("armed a closed worker")
	}
	if _, err := o.aw.EventFD(); !errors.Is(err, braid.ErrClosed) {
		t.Error("descriptor of a closed worker:", err)
	}
	o.aw.Wake() // harmless
}

// TestWakeHammer: wake-ups from other goroutines meet arming and sleeping at any moment; none is lost, and in the end it is quiet.
func TestWakeHammer(t *testing.T) {
	o := connectPolled(t, braid.Options{Owned: true, ErrorMode: braid.None, Times: braid.Times{Keepalive: time.Hour}})
	l := newEventLoop(t, o.aw, unix.EPOLLET)
	var asked, told atomic.Int64
	var side sync.WaitGroup
	const rounds = 5000
	for range 2 {
		side.Go(func() {
			for range rounds {
				was := told.Load()
				asked.Add(1)
				o.aw.Wake()
				for end := time.Now().Add(patience); told.Load() == was && rand.IntN(4) > 0; {
					if time.Now().After(end) {
						t.Error("a wake-up was lost")
						return
					}
				}
			}
		})
	}
	var over atomic.Bool
	go func() { side.Wait(); over.Store(true); o.aw.Wake() }()
	for seen := int64(0); !over.Load(); {
		if !l.sleep(patience) {
			t.Error("slept over a wake-up")
			break
		}
		if now := asked.Load(); now != seen {
			seen = now
			told.Store(now)
		}
	}
	side.Wait()
	turns := 0
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); turns++ {
		o.aw.Progress()
		l.sleep(time.Until(end))
	}
	if turns > 50 {
		t.Errorf("%d turns in 200 ms with nothing to do", turns)
	}
}
