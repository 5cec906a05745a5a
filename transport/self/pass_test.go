package self_test

import (
	"testing"

	"github.com/openbraid/braid/transport"
)

// listener is an end that notes how many of its own frames were executed when one came.
type listener struct {
	*end
	before []int
}

func (l *listener) Frame(in *transport.Incoming) {
	l.before = append(l.before, l.executed)
	l.end.Frame(in)
}

// pass passes f from x, and says what became of it.
func (c *couple) pass(f *transport.Frame) (taken, over bool) {
	return c.x.ep.(transport.Passer).Pass(f)
}

// TestPass: what is passed has arrived and is executed, on both sides' books, and nothing of it is left for a turn.
func TestPass(t *testing.T) {
	c := newCouple(t)
	f := &transport.Frame{ID: 1, Head: make([]byte, 4), Payload: make([]byte, 8), Done: c.x}
	for i := 1; i <= 100; i++ {
		if taken, over := c.pass(f); !taken || !over || c.y.got != i {
			t.Fatalf("frame %d: taken %v, over %v; %d have come", i, taken, over, c.y.got)
		}
	}
	x, y := c.x.ep.Counts(), c.y.ep.Counts()
	if x.Posted != 100 || x.Acked != 100 || x.PostedBytes != 1200 || x.AckedBytes != 1200 || x.RoundTrips < 100 || y.Accepted != 100 || y.AcceptedBytes != 1200 || c.y.ep.Position() != 100 {
		t.Errorf("the books say %+v and %+v", x, y)
	}
	if n := c.Progress(); n != 0 || c.x.executed != 0 {
		t.Errorf("a turn found %d things to do, %d frames were said to be executed", n, c.x.executed)
	}
	if c.y.ep.Quiesce(); c.y.ep.Position() != 100 {
		t.Error("the position has moved")
	}
	c.x.ep.Quiesce()
	if r, err := c.x.ep.PurgeOutstanding(100, nil); err != nil || r != (transport.PurgeResult{}) {
		t.Errorf("handed back: %+v, %v", r, err)
	}
}

// TestPassWaits: nothing passes by what was posted before, data or control, or what is not to be taken.
func TestPassWaits(t *testing.T) {
	data := &transport.Frame{ID: 1, Payload: make([]byte, 8)}
	for name, before := range map[string]func(c *couple){
		"data":          func(c *couple) { c.x.ep.Post(data) },
		"control":       func(c *couple) { c.x.ep.Post(&transport.Frame{ID: 2, Class: transport.Control}) },
		"control of it": func(c *couple) { c.y.ep.Post(&transport.Frame{ID: 2, Class: transport.Control}) },
	} {
		c := newCouple(t)
		before(c)
		if taken, _ := c.pass(data); taken {
			t.Errorf("%s: it was passed by", name)
		}
		c.Progress()
		if taken, over := c.pass(data); !taken || !over {
			t.Errorf("%s: nothing passes after it is over", name)
		}
	}
	c := newCouple(t)
	if taken, _ := c.pass(&transport.Frame{ID: 1, Payload: make([]byte, 8), ZeroCopy: true}); taken {
		t.Error("a payload that is not copied was passed")
	}
	for name, end := range map[string]func(c *couple){
		"quiesced": func(c *couple) { c.y.ep.Quiesce() }, "closed": func(c *couple) { c.y.ep.Close() }, "held": func(c *couple) { c.x.ep.Quiesce() },
	} {
		c := newCouple(t)
		end(c)
		if taken, _ := c.pass(data); taken || c.y.got > 0 {
			t.Errorf("%s: a frame was passed", name)
		}
	}
}

// TestPassAnswered: what the peer says about a frame that was passed is heard before it is executed.
func TestPassAnswered(t *testing.T) {
	c := &couple{Iface: open(t), x: &end{}, y: &end{}}
	l := &listener{end: c.x}
	ln, err := c.Listen("self:0", c.y)
	if err != nil {
		t.Fatal(err)
	}
	if c.x.ep, err = c.Dial("", ln.Addr(), transport.Options{}, l); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Progress()
	}
	c.x.ep.Admit(c.Attr().MaxFrame, true)
	c.y.ep.Admit(c.Attr().MaxFrame, true)
	c.y.reply = &transport.Frame{ID: 3, Class: transport.Control}
	if taken, over := c.pass(&transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.x}); !taken || over || c.x.executed != 0 {
		t.Fatalf("taken %v, over %v, %d executed", taken, over, c.x.executed)
	}
	c.Progress()
	if len(l.before) != 1 || l.before[0] != 0 || c.x.executed != 1 {
		t.Errorf("executed when it was answered: %v, after that %d", l.before, c.x.executed)
	}
}

// inside is an end that does something when a frame comes.
type inside struct {
	*end
	do func()
}

func (i *inside) Frame(in *transport.Incoming) {
	i.end.Frame(in)
	i.do()
}

// TestPassInside: nothing nests. What is to be passed while a frame is handed over, in either direction, is to be posted.
func TestPassInside(t *testing.T) {
	c := &couple{Iface: open(t), x: &end{}, y: &end{}}
	ln, err := c.Listen("self:0", c.y)
	if err != nil {
		t.Fatal(err)
	}
	f := &transport.Frame{ID: 1, Payload: make([]byte, 8), Done: c.x}
	nested := 0
	sink := &inside{end: c.x, do: func() {
		for _, e := range []*end{c.x, c.y} {
			if taken, _ := e.ep.(transport.Passer).Pass(f); taken {
				nested++
			}
		}
	}}
	if c.x.ep, err = c.Dial("", ln.Addr(), transport.Options{}, sink); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.Progress()
	}
	c.x.ep.Admit(c.Attr().MaxFrame, true)
	c.y.ep.Admit(c.Attr().MaxFrame, true)
	if taken, over := c.y.ep.(transport.Passer).Pass(f); !taken || !over || c.x.got != 1 {
		t.Fatalf("taken %v, over %v; %d have come", taken, over, c.x.got)
	}
	c.y.ep.Post(f)
	c.Progress()
	if c.x.got != 2 || nested > 0 {
		t.Errorf("%d of 2 have come, %d were passed inside", c.x.got, nested)
	}
}
