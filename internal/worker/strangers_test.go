package worker_test

import (
	"testing"
	"time"

	"github.com/openbraid/braid/internal/arrivals"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/worker"
	"github.com/openbraid/braid/transport"
)

// deaf is the end of a connection that nobody listens to.
type deaf struct{ broke bool }

func (*deaf) Connected()                         {}
func (*deaf) Place(uint8, []byte, int) []byte    { return nil }
func (*deaf) Frame(*transport.Incoming)          {}
func (*deaf) Room()                              {}
func (d *deaf) OnError(error) transport.Decision { d.broke = true; return transport.Complete }
func (d *deaf) say(ep transport.Endpoint, id uint8, head []byte) {
	ep.Post(&transport.Frame{ID: id, Class: transport.Control, Head: head})
}

// TestPlacesOfStrangers: of one other host few may be half open. At the limit the one that has said least makes room, and of those the one that
// came first; who has said something longer ago stays.
func TestPlacesOfStrangers(t *testing.T) {
	s := newStage(t, 1, wire.ModeFailover)
	host := s.net.Host("s", "s0", "s1")
	iface, err := host.Open(host.Env())
	if err != nil {
		t.Fatal(err)
	}
	defer iface.Close()
	turn := func() {
		for range 20 {
			iface.Progress()
			iface.Flush()
			s.a.turn()
			s.b.turn()
			s.net.StepTo(s.net.Now() + 10*time.Microsecond)
		}
	}
	dial := func(from string, greet bool) *deaf {
		d := &deaf{}
		ep, err := iface.Dial(from, "b0:7", transport.Options{Window: 4096}, d)
		if err != nil {
			t.Fatal(err)
		}
		if greet {
			d.say(ep, wire.IDPreface, wire.Preface{}.AppendTo(nil))
		}
		turn()
		return d
	}
	greeted := dial("s0", true)
	var silent []*deaf
	for range 7 {
		silent = append(silent, dial("s0", false))
	}
	elsewhere := dial("s1", false)
	if got := s.b.eng.Strangers(); got != (arrivals.Counts{HalfOpen: 9}) {
		t.Fatalf("%+v", got)
	}
	for i := range 7 {
		silent = append(silent, dial("s0", false))
		if !silent[i].broke || silent[i+1].broke || greeted.broke || elsewhere.broke {
			t.Fatalf("newcomer %d: the first is out: %v, the next: %v, who greeted: %v, of another host: %v", i, silent[i].broke, silent[i+1].broke, greeted.broke, elsewhere.broke)
		}
	}
	for range 8 {
		dial("s0", true)
	}
	if !greeted.broke || elsewhere.broke {
		t.Errorf("among equals the first goes: %v; another host's stays: %v", greeted.broke, !elsewhere.broke)
	}
	if got := s.b.eng.Strangers(); got != (arrivals.Counts{HalfOpen: 9, Dropped: 15, Crowded: 15}) {
		t.Errorf("%+v", got)
	}
	ep, r, err := s.a.eng.Dial([]string{"b0:7"}, worker.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	turn()
	if !r.Reported || r.Err != nil {
		t.Errorf("a peer does not get in: %v", r.Err)
	}
	s.a.eng.Release(r)
	ep.Abort()
	turn()
}
