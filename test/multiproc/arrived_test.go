package multiproc

import (
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestF9_TellMeWhenAMessageArrived: the pattern of docs/progress.md, and of nothing but it: a handler that hands messages to a channel. The
// process takes next to no processor time while it waits, before the first message and between messages, and each comes.
func TestF9_TellMeWhenAMessageArrived(t *testing.T) {
	begin(t)
	waiter := start(t, job{Role: "arrivals", Addr: "127.0.0.1:0", Alive: time.Second})
	addr := waiter.expect("addr")
	waiter.idles("nothing arrived yet", idleShare)
	ep := dial(t, open(t, braid.Options{Times: braid.Times{Keepalive: time.Second}}), addr)
	for _, text := range []string{"first", "second", "third"} {
		if err := ep.SendAM(within(t, patience), 1, nil, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := waiter.expect("arrived"); got != text {
			t.Fatalf("%q arrived, want %q", got, text)
		}
		waiter.idles("after the "+text, idleShare)
	}
}

// arrivals is a program that wants to be told when a message arrived, and does nothing else.
func arrivals(s *self, j job) {
	n, err := braid.Open(braid.Options{Times: brisk(j)})
	s.must(err)
	defer n.Close()
	w, err := n.NewWorker()
	s.must(err)
	arrived := make(chan string, 16)
	w.HandleAM(1, func(m *braid.Message) { arrived <- string(m.Payload()) })
	ln, err := w.Listen(j.Addr)
	s.must(err)
	s.say("addr %s", ln.Addr())
	for {
		s.say("arrived %s", <-arrived)
	}
}
