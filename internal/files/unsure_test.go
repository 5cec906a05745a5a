package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
	"github.com/openbraid/braid/internal/files/tree"
)

// finishes is a receiver that takes all pieces, and does as it is told when they are said to be all.
func finishes(t *testing.T, then func(ep *braid.Endpoint)) (addr string) {
	t.Helper()
	x, w := newStranger(t)
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mem, err := w.Node().Alloc(dialogue.PieceBytes)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		ep, err := ln.Accept(x.ctx)
		if err != nil {
			return
		}
		say := func(n dialogue.Note) { _ = ep.SendAM(x.ctx, idNote, nil, n.AppendTo(nil)) }
		say(dialogue.Ready{})
		for {
			select {
			case n := <-x.heard:
				switch n := n.(type) {
				case dialogue.List:
					a := dialogue.Accept{Window: 1}
					copy(a.Key[:], mem.Key(braid.Write).Bytes())
					say(a)
				case dialogue.Data:
					say(dialogue.Free{N: n.N})
				case dialogue.Finish:
					then(ep)
				case dialogue.Abort:
					ep.Abort()
					return
				}
			case <-x.ctx.Done():
				return
			}
		}
	}()
	return ln.Addr()
}

// TestUnsure: after the last byte was sent, an end that the receiver did not give a reason for says that the outcome is not known.
func TestUnsure(t *testing.T) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	for name, c := range map[string]struct {
		then                func(ep *braid.Endpoint)
		unsure, interrupted bool
	}{
		"interrupted": {func(*braid.Endpoint) { stop(errors.New("by hand")) }, true, true},
		"lost":        {func(ep *braid.Endpoint) { ep.Abort() }, true, false},
		"told": {func(ep *braid.Endpoint) {
			_ = ep.SendAM(context.Background(), idNote, nil, dialogue.Abort{Code: dialogue.Failed, Text: "no"}.AppendTo(nil))
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewSender(t.Context(), SendOptions{Addr: finishes(t, c.then), Stdin: strings.NewReader("all of it"), Name: "x", Node: braid.Options{Rails: rails[:1]}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			run := context.Background()
			if c.interrupted {
				run = ctx
			}
			_, err = s.Run(run)
			var unsure *UnsureError
			if err == nil || errors.As(err, &unsure) != c.unsure || errors.Is(err, ErrInterrupted) != c.interrupted || strings.Contains(err.Error(), "not known") != c.unsure {
				t.Error(err)
			}
		})
	}
}

// TestStoppedWhilePlacing: a receiver that is stopped when names are given has received, and says so.
func TestStoppedWhilePlacing(t *testing.T) {
	tidy(t)
	for _, once := range []bool{false, true} {
		var r *receiver
		begun := make(chan struct{})
		r = receive(t, ReceiveOptions{Once: once, placing: func() { <-begun; r.stop() }})
		close(begun)
		_, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: strings.NewReader("all of it"), Name: "x"})
		var unsure *UnsureError
		if err != nil && !errors.As(err, &unsure) {
			t.Error("sender: ", err)
		}
		if err := r.outcome(t); err != nil {
			t.Error("transfer: ", err)
		}
		if err := r.over(t); err != nil {
			t.Error("receiver: ", err)
		}
		if b, err := os.ReadFile(filepath.Join(r.dir, "x")); err != nil || string(b) != "all of it" {
			t.Error(string(b), err)
		}
	}
}

// TestTold: a sender is told what became of what had arrived, where that is not plain.
func TestTold(t *testing.T) {
	full, left := errors.New("no space left on device"), &tree.LeftError{Err: errors.New("busy")}
	for _, c := range []struct {
		err, left error
		want      string
	}{
		{full, nil, full.Error() + "; nothing of it was kept"},
		{full, left, full.Error() + "; " + left.Error()},
		{fmt.Errorf("%w; %w", full, left), left, full.Error() + "; " + left.Error()},
		{&PartlyError{Placed: 2, Err: full}, nil, (&PartlyError{Placed: 2, Err: full}).Error()},
		{&dialogue.RefusedError{Text: "no"}, nil, "no"},
		{&dialogue.RefusedError{Text: "no"}, left, "no; " + left.Error()},
		{ErrInterrupted, nil, ErrInterrupted.Error()},
	} {
		if got := (&session{left: c.left}).told(c.err); got.Error() != c.want || !errors.Is(got, c.err) {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}
