package multiproc

import (
	"context"
	"strings"
	"syscall"

	"github.com/openbraid/braid"
)

// answerPolled is an Owned server that never sleeps.
func answerPolled(s *self, j job) {
	_, w, _, mem := listen(s, j, true)
	for {
		select {
		case command := <-s.heard:
			obey(s, w, mem, command)
		default:
			w.Progress()
		}
	}
}

// askPolled asks such a server and waits for each answer without sleeping, and says how much of a processor one took, in microseconds.
func askPolled(s *self, j job) {
	shared := strings.HasSuffix(j.Role, "shared")
	n, err := braid.Open(braid.Options{Owned: !shared, Wait: braid.WaitPoll, Times: brisk(j)})
	s.must(err)
	w, err := n.NewWorker()
	s.must(err)
	ep, err := w.Dial(context.Background(), j.Addr)
	s.must(err)
	answers, word := 0, make([]byte, 8)
	w.HandleAM(amEcho, func(*braid.Message) { answers++ })
	ask := func() {
		if shared {
			s.must(ep.SendAM(context.Background(), amCheck, checkedHeader(uint64(answers), word), word))
			s.must(ep.Flush(context.Background()))
			answers++
			return
		}
		ep.PostAM(amEcho, nil, word).Release()
		for want := answers + 1; answers < want; w.Progress() {
		}
	}
	used := func() int64 {
		var u syscall.Rusage
		s.must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return (u.Utime.Nano() + u.Stime.Nano()) / 1000
	}
	for range j.Count { // until it has learned who else is here
		ask()
	}
	before := used()
	for range j.Count {
		ask()
	}
	s.say("took %d", (used()-before)/int64(j.Count))
}
