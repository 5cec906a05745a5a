package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
)

// stranger speaks notes, or what it likes, to a receiver or as one.
type stranger struct {
	t     *testing.T
	ctx   context.Context
	ep    *braid.Endpoint
	heard chan dialogue.Note
	stays bool // does not leave when it is told to
}

func (x *stranger) take(m *braid.Message) {
	if n, err := dialogue.Parse(m.Payload()); err == nil {
		select {
		case x.heard <- n:
		default:
		}
	}
}

func newStranger(t *testing.T) (*stranger, *braid.Worker) {
	t.Helper()
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	x := &stranger{t: t, ctx: ctx, heard: make(chan dialogue.Note, 100)}
	w := newWorker(t, n)
	w.HandleAM(idNote, x.take)
	return x, w
}

// dial is a stranger who is connected to a receiver, and was greeted.
func dial(t *testing.T, r *receiver) *stranger {
	t.Helper()
	x, w := newStranger(t)
	var err error
	if x.ep, err = w.Dial(x.ctx, r.addr); err != nil {
		t.Fatal(err)
	}
	if _, ok := x.hear().(dialogue.Ready); !ok {
		t.Fatal("not greeted")
	}
	return x
}

func (x *stranger) hear() dialogue.Note {
	select {
	case n := <-x.heard:
		return n
	case <-x.ctx.Done():
		x.t.Fatal("nothing is heard")
		return nil
	}
}

func (x *stranger) say(n dialogue.Note) { x.raw(n.AppendTo(nil)) }

func (x *stranger) raw(b []byte) {
	if err := x.ep.SendAM(x.ctx, idNote, nil, b); err != nil && !errors.Is(err, braid.ErrPeerClosed) {
		x.t.Error(err)
	}
}

// ended waits for the abort, and leaves; or waits until the receiver has enough.
func (x *stranger) ended(code dialogue.Code) {
	x.t.Helper()
	for {
		n := x.hear()
		if _, ok := n.(dialogue.Done); ok {
			x.t.Fatal("it has arrived")
		}
		if a, ok := n.(dialogue.Abort); ok {
			if a.Code != code {
				x.t.Errorf("%v: %s; want %v", a.Code, a.Text, code)
			}
			break
		}
	}
	if !x.stays {
		x.ep.Abort()
		return
	}
	for x.ep.Err() == nil {
		if x.ctx.Err() != nil {
			x.t.Fatal("the endpoint does not end")
		}
		time.Sleep(time.Millisecond)
	}
}

// file offers a file of n bytes and returns the key of its place.
func (x *stranger) file(n uint64, name string) braid.RKey {
	x.t.Helper()
	x.say(dialogue.Offer{Files: 1, Bytes: n})
	x.say(dialogue.List{Entries: []dialogue.Entry{{Parent: dialogue.Top, Name: name, Size: n}}})
	for {
		if a, ok := x.hear().(dialogue.Accept); ok {
			key, err := braid.ParseRKey(a.Key[:])
			if err != nil {
				x.t.Fatal(err)
			}
			return key
		}
	}
}

// list is files at the top.
func list(names ...string) (l dialogue.List) {
	for _, n := range names {
		l.Entries = append(l.Entries, dialogue.Entry{Parent: dialogue.Top, Name: n})
	}
	return l
}

// hostile is what a sender does, and what it is told.
type hostile struct {
	do   func(x *stranger)
	code dialogue.Code
}

func hostileSenders() map[string]hostile {
	return map[string]hostile{
		"noise":    {func(x *stranger) { x.raw([]byte("GET / HTTP/1.1\r\n\r\n")) }, dialogue.Violated},
		"nothing":  {func(x *stranger) { x.raw(nil) }, dialogue.Violated},
		"upwards":  {func(x *stranger) { x.say(dialogue.Offer{Files: 1}); x.say(list("..")) }, dialogue.Violated},
		"a path":   {func(x *stranger) { x.say(dialogue.Offer{Files: 1}); x.say(list("../../etc/passwd")) }, dialogue.Violated},
		"absolute": {func(x *stranger) { x.say(dialogue.Offer{Files: 1}); x.say(list("/tmp/evil")) }, dialogue.Violated},
		"a zero":   {func(x *stranger) { x.say(dialogue.Offer{Files: 1}); x.say(list("a\x00b")) }, dialogue.Violated},
		"ours":     {func(x *stranger) { x.say(dialogue.Offer{Files: 1}); x.say(list(".braid-0123456789abcdef")) }, dialogue.Refused},
		"taken":    {func(x *stranger) { x.say(dialogue.Offer{Files: 1}); x.say(list("honest")) }, dialogue.Refused},
		"endless": {func(x *stranger) {
			x.say(dialogue.Offer{Files: 1000})
			for range 2 {
				l := dialogue.List{}
				for i := range 999 {
					l.Entries = append(l.Entries, dialogue.Entry{Parent: dialogue.Top, Name: string([]byte{byte('a' + i/100), byte('a' + i/10%10), byte('a' + i%10)})})
				}
				x.say(l)
			}
		}, dialogue.Violated},
		"huge": {func(x *stranger) { x.say(dialogue.Offer{Files: 1<<32 - 1, Dirs: 1<<32 - 1, Bytes: 1<<64 - 1}) }, dialogue.Refused},
		"digest": {func(x *stranger) {
			x.file(5, "e1")
			x.say(dialogue.Data{Length: 5, Sums: []dialogue.Sum{{}}})
			x.say(dialogue.Finish{Bytes: 5})
		}, dialogue.Failed},
		"far": {func(x *stranger) {
			x.file(5, "e2")
			x.say(dialogue.Data{N: 1 << 62, Length: 5, Sums: []dialogue.Sum{{}}})
		}, dialogue.Violated},
		"length": {func(x *stranger) { x.file(5, "e3"); x.say(dialogue.Data{Length: 1<<32 - 1, Sums: []dialogue.Sum{{}}}) }, dialogue.Violated},
	}
}

// TestHostileSenders: each loses its own transfer; nothing is left, and an honest one beside them arrives.
func TestHostileSenders(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{Node: braid.Options{Rails: []string{"127.0.0.1"}}, MaxFiles: 1000, Clients: 1 + len(hostileSenders())}) // all may be there at once
	g := newGate(2<<20, 2<<20)
	honest := make(chan error, 1)
	go func() {
		_, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: g, Name: "honest", Node: braid.Options{Rails: []string{"127.0.0.1"}}})
		honest <- err
	}()
	<-g.reached
	t.Run("all", func(t *testing.T) {
		for name, c := range hostileSenders() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				x := dial(t, r)
				c.do(x)
				x.ended(c.code)
			})
		}
	})
	x := dial(t, r) // finished too early
	x.stays = true
	x.file(5, "e4")
	x.say(dialogue.Finish{Bytes: 5})
	x.ended(dialogue.Violated)
	close(g.open)
	if err := <-honest; err != nil {
		t.Fatal(err)
	}
	g.check(t, filepath.Join(r.dir, "honest"))
	if list, _ := os.ReadDir(r.dir); len(list) != 1 {
		t.Error(list)
	}
}

// TestHostileAfterTheEnd: a key is worth nothing when its transfer is over, and what is said then is nothing.
func TestHostileAfterTheEnd(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{Node: braid.Options{Rails: []string{"127.0.0.1"}}})
	x := dial(t, r)
	key := x.file(4, "evil")
	if err := errors.Join(x.ep.Put(x.ctx, []byte("good"), key, 0), x.ep.Flush(x.ctx)); err != nil {
		t.Fatal(err)
	}
	x.say(dialogue.Data{Length: 4, Sums: []dialogue.Sum{sha256.Sum256([]byte("good"))}})
	x.say(dialogue.Finish{Bytes: 4})
	for {
		if d, ok := x.hear().(dialogue.Done); ok {
			if d.Files != 1 || d.Bytes != 4 {
				t.Error(d)
			}
			break
		}
	}
	x.say(dialogue.Offer{Files: 1})
	x.say(dialogue.Data{})
	if err := errors.Join(x.ep.Put(x.ctx, []byte("evil"), key, 0), x.ep.Flush(x.ctx)); !errors.Is(err, braid.ErrAccess) {
		t.Errorf("a put after the end: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(r.dir, "evil")); err != nil || string(b) != "good" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestStrangersWait: who is connected and offers nothing makes room for who comes, the first of them first.
func TestStrangersWait(t *testing.T) {
	tidy(t)
	const few = 5
	r := receive(t, ReceiveOptions{strangers: few, Node: braid.Options{Rails: []string{"127.0.0.1"}}})
	var all []*stranger
	for range few {
		all = append(all, dial(t, r))
	}
	for i, name := range []string{"a", "b"} {
		if _, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: strings.NewReader("x"), Name: name, Node: braid.Options{Rails: []string{"127.0.0.1"}}}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			all[0].ended(dialogue.Busy)
		}
	}
	for i, s := range all[1:] { // who had offered something took no more of their places
		s.file(1, "s"+string(rune('0'+i)))
		s.ep.Abort()
	}
}

// TestSlowReports: who does not read what is reported stops no transfer.
func TestSlowReports(t *testing.T) {
	tidy(t)
	read := make(chan struct{})
	r := receive(t, ReceiveOptions{Report: func(Report) { <-read }, Node: braid.Options{Rails: []string{"127.0.0.1"}}})
	for _, name := range []string{"a", "b"} {
		if _, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: strings.NewReader("x"), Name: name, Node: braid.Options{Rails: []string{"127.0.0.1"}}}); err != nil {
			t.Error(err)
		}
	}
	close(read)
}

// TestStall: a sender that says that it is alive, and nothing else, loses its place.
func TestStall(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{Clients: 1, Stall: 50 * time.Millisecond, Node: braid.Options{Rails: []string{"127.0.0.1"}}})
	x := dial(t, r)
	x.file(5, "mine")
	x.say(dialogue.Alive{})
	x.ended(dialogue.Failed)
	var stall *StallError
	if err := r.outcome(t); !errors.As(err, &stall) {
		t.Error(err)
	}
	empty(t, r.dir)
}

// TestHostileReceivers: a sender ends with an error, soon, whatever it is told.
func TestHostileReceivers(t *testing.T) {
	for name, c := range map[string]struct {
		say  []dialogue.Note
		says string
	}{
		"another version": {nil, "version 9"},
		"no key":          {[]dialogue.Note{dialogue.Ready{}, dialogue.Accept{Window: 1}}, "key"},
		"a huge window":   {[]dialogue.Note{dialogue.Ready{}, dialogue.Accept{Window: 1 << 31}}, "room for"},
		"done at once":    {[]dialogue.Note{dialogue.Ready{}, dialogue.Done{Files: 1}}, "breaks the file protocol"},
		"free at once":    {[]dialogue.Note{dialogue.Ready{}, dialogue.Free{N: 7}}, "breaks the file protocol"},
		"control":         {[]dialogue.Note{dialogue.Ready{}, dialogue.Abort{Code: dialogue.Failed, Text: "\x1b[2Jgone\n"}}, "gave up: ?[2Jgone?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, w := newStranger(t)
			ln, err := w.Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				ep, err := ln.Accept(x.ctx)
				if err != nil {
					return
				}
				defer func() { // it leaves when it is told to
					for {
						select {
						case n := <-x.heard:
							if _, over := n.(dialogue.Abort); over {
								ep.Abort()
								return
							}
						case <-x.ctx.Done():
							return
						}
					}
				}()
				if c.say == nil {
					b := dialogue.Ready{}.AppendTo(nil)
					b[len(b)-2] = 9
					_ = ep.SendAM(x.ctx, idNote, nil, b)
				}
				for _, n := range c.say {
					_ = ep.SendAM(x.ctx, idNote, nil, n.AppendTo(nil))
				}
			}()
			_, err = sendAs(t, SendOptions{Addr: ln.Addr(), Stdin: strings.NewReader("x"), Name: "x", Node: braid.Options{Rails: []string{"127.0.0.1"}}})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestPrintable(t *testing.T) {
	if got := Printable("a\x1b[31m\x00é\xff\u202e\n"); got != "a?[31m?é???" {
		t.Errorf("%q", got)
	}
}

// newWorker is a worker of n.
func newWorker(t testing.TB, n *braid.Node) *braid.Worker {
	t.Helper()
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}
