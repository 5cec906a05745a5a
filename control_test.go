package braid_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	socket "github.com/openbraid/braid/internal/control"
	"github.com/openbraid/braid/internal/inspect"
)

// TestControl: a process that was asked to lets itself be looked at, Shared and Owned, and has things broken in it; an owner
// who makes no progress is said to. Who was not asked to has no socket.
func TestControl(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	look := func() (p inspect.Process, err error) {
		err = socket.Ask(ctx, socket.Target{PID: os.Getpid()}, socket.Request{Do: "inspect"}, func(r struct {
			State inspect.Process `json:"state"`
		}) error {
			p = r.State
			return nil
		})
		return p, err
	}
	p := connect(t, braid.Options{Control: true, Name: "looked at", Lanes: 2}, braid.Options{})
	p.bw.HandleAM(1, func(*braid.Message) {})
	if err := p.a.SendAM(ctx, 1, nil, []byte("secret bytes")); err != nil {
		t.Fatal(err)
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	got, err := look()
	if err != nil || got.PID != os.Getpid() || got.Name != "looked at" || len(got.Workers) != 1 || len(got.Workers[0].Endpoints) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	e := got.Workers[0].Endpoints[0]
	if e.State != "ready" || e.Mode != "failover" || len(e.Lanes) != 2 || e.Counts.Messages != 1 || e.Lanes[0].State != "up" || e.Lanes[0].Instance != "d1" || e.Work.Unexecuted != 0 {
		t.Errorf("%+v", e)
	}
	if e.Lanes[0].Posted+e.Lanes[1].Posted == 0 || e.Lanes[0].Acked > e.Lanes[0].Posted || len(e.Paths) != 2 {
		t.Errorf("%+v", e)
	}
	var text strings.Builder
	got.Print(&text)
	for _, want := range []string{"looked at", "lane d1", "lane d2", "1 messages", "epoch"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s", want, &text)
		}
	}
	if strings.Contains(text.String(), "secret bytes") {
		t.Error("what was sent is shown")
	}
	var last socket.Reply
	err = socket.Ask(ctx, socket.Target{PID: os.Getpid()}, socket.Request{Do: "fault", Plan: "cut lane=1 kind=reset for=1ms"}, func(r socket.Reply) error { last = r; return nil })
	if err != nil || !last.Over || last.Rules[0].Hits == 0 {
		t.Errorf("%v, %+v", err, last)
	}
	if !eventually(func() bool { g, err := look(); return err == nil && g.Workers[0].Endpoints[0].Counts.LanesUp == 3 }) {
		t.Error("the lane that was cut is not seen to come back")
	}
	if g, err := look(); err != nil || g.Workers[0].Endpoints[0].Lanes[0].Slot != 0 || g.Workers[0].Endpoints[0].Lanes[1].Slot != 1 {
		t.Errorf("slots: %+v, %v", g, err)
	}
	p.an.Close()
	if _, err := look(); err == nil {
		t.Error("a node that is closed answers")
	}
}

// TestControlOwned: only the owner looks at an Owned worker.
func TestControlOwned(t *testing.T) {
	tidy(t)
	n, err := braid.Open(braid.Options{Control: true, Owned: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	states := make(chan inspect.Process, 1)
	look := func() {
		_ = socket.Ask(testContext(t), socket.Target{PID: os.Getpid()}, socket.Request{Do: "inspect"}, func(r struct {
			State inspect.Process `json:"state"`
		}) error {
			states <- r.State
			return nil
		})
	}
	go look()
	if got := <-states; len(got.Workers) != 1 || !got.Workers[0].Silent {
		t.Errorf("nobody makes progress: %+v", got)
	}
	go look()
	for {
		select {
		case got := <-states:
			if got.Workers[0].Silent || got.Workers[0].Mode != "owned" {
				t.Errorf("its owner makes progress: %+v", got)
			}
			return
		default:
			w.Progress()
		}
	}
}

// TestSuspendedShown: a lane that is lost says since when, and an endpoint to which none came back for how long it waited.
func TestSuspendedShown(t *testing.T) {
	tidy(t)
	inj := injector(t)
	p := connect(t, braid.Options{Lanes: 1, Faults: inj, Times: braid.Times{Suspended: 300 * time.Millisecond}}, braid.Options{})
	time.Sleep(20 * time.Millisecond)
	cut := time.Now()
	inj.Apply(fault.Rule{Kind: fault.Reset})
	if !eventually(func() bool { ls := p.a.Lanes(); return len(ls) == 1 && ls[0].State == "lost" }) {
		t.Fatalf("%+v", p.a.Lanes())
	}
	if ls := p.a.Lanes(); len(ls) == 1 && ls[0].Since.Before(cut) {
		t.Errorf("lost %v before it was cut", cut.Sub(ls[0].Since))
	}
	if !eventually(func() bool { return p.a.Err() != nil }) {
		t.Fatal("it does not end")
	}
	if err := p.a.Err(); !errors.Is(err, braid.ErrPeerFailed) || !strings.Contains(err.Error(), "within 300ms (setting suspended)") {
		t.Error(err)
	}
}
