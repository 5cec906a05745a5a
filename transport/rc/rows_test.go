package rc_test

import (
	"errors"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/rc"
)

// What reviewers objected to in UCX's change about deferred completions (#11829), as tests, by number. docs/ucx-map.md says why the others
// don't apply.

// held makes a connection that is held with n frames outstanding, of which the peer has some.
func held(t *testing.T, n int) (s *pairs, c, d *peer) {
	s = newPairs(t, 30, quick)
	c, d = s.connect()
	c.posts(n/2, 4000)
	s.until("half of them", func() bool { return int(d.got) == n/2 })
	s.silence(c.ep)
	c.posts(n-n/2, 4000)
	s.until("the failure", lost(c))
	return s, c, d
}

// TestRow1_CancelOverridesHold: neither a cancel nor anything else waits for completions that nobody makes.
func TestRow1_CancelOverridesHold(t *testing.T) {
	s, c, d := held(t, 40)
	c.ep.Cancel(errStop)
	c.allOnce()
	s.idle(c, d)
}

// TestRow2_EveryErrorCompletionReleases: after the first failure was told, the others still give their memory and places back.
func TestRow2_EveryErrorCompletionReleases(t *testing.T) {
	s, c, d := held(t, 40)
	told := len(c.log)
	for range 100 {
		s.turn()
	}
	if n := rc.UnderWay(c.ep); n != 0 {
		t.Errorf("%d work requests are in the books of a queue pair that has flushed them", n)
	}
	if len(c.log) != told || len(c.errs) != 1 || c.log[told-1] != "error" {
		t.Errorf("told: %v", c.log)
	}
	s.idle(c, d)
}

// TestRow3_NothingIsLeftBehind: no operation, no buffer, no timer after destroying what failed.
func TestRow3_NothingIsLeftBehind(t *testing.T) {
	s, c, d := held(t, 40)
	c.close()
	c.allOnce()
	s.idle(c, d)
}

// TestRow4_PurgeHandsOver: what the peer has taken ends as executed, what it has not is the caller's, with all that he needs to post it again.
func TestRow4_PurgeHandsOver(t *testing.T) {
	s, c, d := held(t, 40)
	at := d.quiesce()
	r, err := c.purge(at, -1)
	if err != nil || r.Handed != 40-int(at) || r.Remaining != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	for tag, e := range c.ends {
		if want := uint64(tag) >= at; (e.handed == 1) != want || (e.executed == 1) == want || e.err != nil {
			t.Errorf("frame %d before %d: %+v", tag, at, e)
		}
	}
	s.idle(c, d)
}

// TestRow5_PurgeIsGuarded: it is public. On an endpoint that is not held, and with a position that can't be, it changes nothing and says why.
func TestRow5_PurgeIsGuarded(t *testing.T) {
	s := newPairs(t, 31, quick)
	c, d := s.connect()
	c.posts(10, 100)
	if _, err := c.purge(0, -1); !errors.Is(err, transport.ErrNotHeld) {
		t.Errorf("healthy: %v", err)
	}
	s.until("all of it", func() bool { return c.first() == 10 })
	c.quiesce()
	for _, bad := range []uint64{0, 9, 11} {
		if _, err := c.purge(bad, -1); !errors.Is(err, transport.ErrPosition) {
			t.Errorf("position %d of 10: %v", bad, err)
		}
	}
	s.idle(c, d)
}

// TestRow6_PartialPurgeIsKept: what was handed out before fn failed stays handed out; the next call goes on behind it.
func TestRow6_PartialPurgeIsKept(t *testing.T) {
	s, c, d := held(t, 40)
	at := d.quiesce()
	for k := 0; ; k++ {
		r, err := c.purge(at, 3)
		if err == nil {
			break
		}
		if !errors.Is(err, errStop) || r.Handed != 3 {
			t.Fatalf("call %d: %+v, %v", k, r, err)
		}
	}
	c.allOnce()
	s.idle(c, d)
}

// TestRow7_PurgeEndsWhereItSays: books that were purged are empty: no range is computed from what the purge did not move.
func TestRow7_PurgeEndsWhereItSays(t *testing.T) {
	s, c, d := held(t, 40)
	at := d.quiesce()
	_, _ = c.purge(at, -1)
	if n := c.ep.Counts(); n.Acked != n.Posted || n.AckedBytes != n.PostedBytes {
		t.Errorf("%+v", n)
	}
	if r, err := c.purge(at, -1); err != nil || r != (transport.PurgeResult{}) {
		t.Errorf("again: %+v, %v", r, err)
	}
	s.idle(c, d)
}

// TestRow8_AnIndexThatDoesNotAdvance: places are counted by what is in the books, so a completion for an index that is not in them ends nothing.
func TestRow8_AnIndexThatDoesNotAdvance(t *testing.T) {
	s := newPairs(t, 32, quick)
	c, d := s.connect()
	c.posts(10, 100)
	s.until("all of it", func() bool { return c.first() == 10 })
	if n := rc.CompleteAgain(c.ep); n != 1 {
		t.Errorf("%d completions were noticed as none of ours, want 1", n)
	}
	s.idle(c, d)
}

// TestRow9_StatesAreDistinct: held, quiesced and purged are states of the life and the books, not flags that somebody must clear.
func TestRow9_StatesAreDistinct(t *testing.T) {
	s, c, d := held(t, 40)
	c.quiesce() // held, and now quiesced
	at := d.quiesce()
	_, _ = c.purge(at, -1)
	if st := c.post(1); st != transport.Failed {
		t.Errorf("a post after the purge says %v", st)
	}
	s.idle(c, d)
}

// TestPlacesOfTheDestroyed (R5): the places of a queue pair that was destroyed are nobody's while its completions may stand in the queue, or
// the queue overruns and every endpoint of the port is lost.
func TestPlacesOfTheDestroyed(t *testing.T) {
	o := quick
	o.SendCQ = 8
	s := newPairs(t, 33, o)
	c, d := s.connect()
	e, f := s.connect()
	s.settle(time.Millisecond) // the peer grants all that it has
	s.silence(c.ep)
	c.posts(20, 40_000)
	s.a.Flush()
	if n := rc.UnderWay(c.ep); n != 8 {
		t.Fatalf("%d under way, of 8 places", n)
	}
	c.quiesce() // its work requests are flushed, and nobody has polled
	c.close()
	e.posts(20, 40_000)
	s.a.Flush()
	for range 20 { // whatever left is acknowledged before anybody polls
		s.tick()
		s.b.Progress()
		s.b.Flush()
	}
	s.until("the other connection", func() bool { return f.got == 20 || len(e.errs) > 0 })
	if len(e.errs) > 0 {
		t.Error(e.errs)
	}
	s.idle(c, d, e, f)
}

// TestRow11_WithoutAnybodyWhoPurges: a held endpoint whose owner never purges it ends with Close like any other.
func TestRow11_WithoutAnybodyWhoPurges(t *testing.T) {
	s, c, d := held(t, 40)
	c.close()
	d.close()
	s.idle(c, d)
}

// TestControlIsBounded: control frames that nobody takes off are refused at some point, and who was refused hears of room.
func TestControlIsBounded(t *testing.T) {
	s := newPairs(t, 34, rc.Options{})
	c, d := s.connect()
	posted := 0
	for c.ep.Post(&transport.Frame{ID: 7, Class: transport.Control, Payload: make([]byte, 1<<20)}) == transport.Done {
		if posted++; posted > 20 {
			t.Fatal("20 MiB of control frames wait")
		}
	}
	if posted < 15 {
		t.Errorf("no room after %d MiB", posted)
	}
	s.until("all, and room", func() bool { return d.control == posted && c.rooms == 1 })
	s.idle(c, d)
}

// TestLastCreditIsNotForData: however much data waits, one segment may always be sent: that which says that this side has room again.
// Without it two sides that have both filled the other would wait for each other.
func TestLastCreditIsNotForData(t *testing.T) {
	s := newPairs(t, 32, quick)
	c, _ := s.connect()
	for range 200 { // the peer has no turn
		c.post(1000)
		s.a.Flush()
		if n := rc.Left(c.ep); n < 1 {
			t.Fatalf("%d credits left, and data has had the last one", n)
		}
	}
	if n := rc.Left(c.ep); n != 1 {
		t.Errorf("%d credits left of which data could have had more", n)
	}
}
