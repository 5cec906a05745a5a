package perf

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/note"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// listening starts a server in this process that ends with the test.
func listening(t *testing.T) (addr string, stop context.CancelFunc) { return listeningAs(t, false) }

func listeningAs(t *testing.T, shared bool) (addr string, stop context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	bound, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- Serve(ctx, ServerParams{Listen: "127.0.0.1:0", Listening: func(a string) { bound <- a }, Setup: Setup{Shared: shared}})
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	select {
	case a := <-bound:
		return a, cancel
	case err := <-done:
		done <- nil
		t.Fatal(err)
	}
	return "", nil
}

// dialed is a client that has agreed on a test, to be misused.
func dialed(t *testing.T, addr string, p Params, total uint64) *client {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	c, err := dial(ctx, addr, p, newID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.node.Close() })
	if err := c.begin(total); err != nil {
		t.Fatal(err)
	}
	return c
}

// What the far side counts is what arrives: here a client that loses, doubles, exchanges and spoils.
func TestServerCountsMessages(t *testing.T) {
	addr, _ := listening(t)
	c := dialed(t, addr, Params{Test: "am_bw", Size: 100, Verify: true}, 6)
	for _, seq := range []uint64{0, 2, 1, 4, 4, 5} { // 3 is lost
		head, body := make([]byte, pattern.WordLen), make([]byte, 100)
		binary.LittleEndian.PutUint64(head, seq)
		pattern.Fill(body, pattern.Base(seq, false))
		if seq == 5 {
			body[99] ^= 1
		}
		if err := c.ep.SendAM(c.ctx, note.Data, head, body); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.end()
	if want := (Tally{Arrived: 6, Lost: 1, Doubled: 1, Disorders: 1, Corrupt: 1}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestServerCountsPuts(t *testing.T) {
	addr, _ := listening(t)
	c := dialed(t, addr, Params{Test: "put_bw", Size: 64, Outstanding: 4, Verify: true}, 8)
	put := func(seq, slot uint64, spoil bool) {
		body := make([]byte, 64)
		pattern.Fill(body, pattern.Base(seq, false))
		if spoil {
			body[40] ^= 1
		}
		if err := c.ep.Put(c.ctx, body, c.key, slot*64); err != nil {
			t.Fatal(err)
		}
	}
	check := func(first uint64) {
		if err := c.ep.Flush(c.ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ask(note.Note{Kind: note.Check, First: first, Count: 4}, note.Checked); err != nil {
			t.Fatal(err)
		}
	}
	put(0, 0, false)
	put(1, 1, true)
	put(3, 3, false) // 2 is lost
	check(0)
	put(0, 0, false) // again, in the place of 4
	put(5, 1, false)
	put(6, 2, false)
	put(7, 3, false)
	check(4)
	put(7, 3, false) // late
	got, err := c.end()
	if want := (Tally{Arrived: 7, Lost: 2, Doubled: 2, Corrupt: 1}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestServerRefusesSecondClient(t *testing.T) {
	addr, _ := listening(t)
	c := dialed(t, addr, Params{Test: "am_bw"}, 1)
	second := Params{Test: "am_bw", Iterations: 1}
	done := make(chan error)
	go func() {
		_, err := Run(context.Background(), addr, second, nil)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "another client is being served") {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no answer")
	}
	if _, err := c.end(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(c.ctx, addr, second, nil); err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
}

// once starts a server that ends after one client. It tells its address, its end, and what it says.
func once(t *testing.T, p ServerParams) (addr string, end chan error, said chan string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	bound := make(chan string, 1)
	end, said = make(chan error, 1), make(chan string, 100)
	p.Listen, p.Once = "127.0.0.1:0", true
	p.Listening = func(a string) { bound <- a }
	p.Log = func(format string, args ...any) { said <- fmt.Sprintf(format, args...) }
	go func() { end <- Serve(ctx, p) }()
	select {
	case addr = <-bound:
	case err := <-end:
		t.Fatal(err)
	}
	return addr, end, said
}

// A client that is refused does not use the server up, and both say why.
func TestRefusedClientDoesNotCount(t *testing.T) {
	for _, shared := range []bool{false, true} {
		addr, end, said := once(t, ServerParams{Setup: Setup{Shared: shared}})
		p := Params{Test: "am_lat", Iterations: 3}
		p.Shared = !shared
		want := map[bool]string{false: "start the server with --shared", true: "start the client with --shared"}[shared]
		if _, err := Run(context.Background(), addr, p, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("shared %v: %v, want %q", shared, err, want)
		}
		p.Shared = shared
		for try := 0; ; try++ { // the server may still see the first one off
			_, err := Run(context.Background(), addr, p, nil)
			if err == nil {
				break
			}
			if try == 100 || !strings.Contains(err.Error(), "refuses") {
				t.Fatalf("shared %v: %v", shared, err)
			}
		}
		if err := <-end; err != nil {
			t.Error(err)
		}
		close(said)
		var all []string
		for line := range said {
			all = append(all, line)
		}
		if text := strings.Join(all, "\n"); !strings.Contains(text, "refused 127.0.0.1") || !strings.Contains(text, want) {
			t.Errorf("the server says:\n%s", text)
		}
	}
}

// A client that goes in the middle of a test: the server says that it broke off, and it is no clean end.
func TestClientBreaksOff(t *testing.T) {
	addr, end, _ := once(t, ServerParams{})
	c := dialed(t, addr, Params{Test: "am_bw"}, 100)
	c.ep.Abort()
	c.node.Close()
	select {
	case err := <-end:
		if err == nil || !strings.Contains(err.Error(), "broke off in the middle of am_bw") {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the server waits on")
	}
}

// A client that says what its test has no place for, and one that asks for more than there is to be, cost the server nothing.
func TestServerBears(t *testing.T) {
	addr, _ := listening(t)
	for _, test := range []string{"am_bw", "am_lat", "put_bw", "put_lat", "get", "add", "cswap"} {
		c := dialed(t, addr, Params{Test: test, Size: 8, Verify: true}, 1)
		for _, n := range []note.Note{{Kind: note.Check, Count: 1}, {Kind: note.Check, First: 1 << 63, Count: 1 << 63}} {
			if _, err := c.ask(n, note.Checked); err != nil {
				t.Fatalf("%s: %v", test, err)
			}
		}
		if err := c.ep.SendAM(c.ctx, note.Data, nil, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := c.end(); err != nil {
			t.Errorf("%s: %v", test, err)
		}
	}
	p := Params{Test: "get", Size: 8}
	first := dialed(t, addr, p, 1)
	stranger, err := dial(first.ctx, addr, p, newID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.node.Close()
	// What he asks for is not looked at, let alone made, before he is let in.
	if _, err := stranger.ask(note.Note{Kind: note.Start, Client: stranger.id, Test: "get", Size: -1, Slots: 1}, note.Ready); err == nil || !strings.Contains(err.Error(), "another client is being served") {
		t.Error(err)
	}
	for range maxSessions - 1 {
		one, err := dial(first.ctx, addr, p, first.id, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer one.node.Close()
		if err := one.begin(1); err != nil {
			t.Fatal(err)
		}
	}
	more, err := dial(first.ctx, addr, p, first.id, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer more.node.Close()
	if err := more.begin(1); err == nil || !strings.Contains(err.Error(), "at a time") {
		t.Error(err)
	}
}

func TestVersions(t *testing.T) {
	addr, _ := listening(t)
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	w := newWorker(t, n)
	answer := make(chan note.Note, 1)
	w.HandleAM(note.ID, func(m *braid.Message) {
		var got note.Note
		if json.Unmarshal(m.Payload(), &got) == nil {
			answer <- got
		}
	})
	ep, err := w.Dial(ctx, addr)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"version":99,"kind":"start","test":{}}`: "no braid perftest",
		`{"version":99,"kind":"start"}`:           "speaks version 99, this one 4",
		`nonsense`:                                "no braid perftest",
		`{"version":4,"kind":"stop"}`:             "not what comes next",
		`{"version":4,"kind":"start","client":"x","test":"am_bw","slots":1,"size":-5}`:                 "out of range",
		`{"version":4,"kind":"start","client":"x","test":"put_lat","slots":1,"size":4}`:                "out of range",
		`{"version":4,"kind":"start","client":"x","test":"get","slots":8193,"size":4}`:                 "out of range",
		`{"version":4,"kind":"start","client":"x","test":"get","slots":9,"size":268435456}`:            "out of range",
		`{"version":4,"kind":"start","client":"x","test":"am_bw","slots":1,"size":8,"pieces":[8]}`:     "a list of 8 bytes in a am_bw",
		`{"version":4,"kind":"start","client":"x","test":"tag_bw","slots":1,"size":8,"pieces":[9]}`:    "a list of 9 bytes",
		`{"version":4,"kind":"start","client":"x","test":"tag_bw","slots":1,"size":8,"pieces":[9,-1]}`: "0 bytes or more",
	} {
		if err := ep.SendAM(ctx, note.ID, nil, []byte(text)); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-answer:
			if got.Kind != note.Refused || !strings.Contains(got.Text, want) {
				t.Errorf("%s: %+v", text, got)
			}
		case <-ctx.Done():
			t.Fatalf("%s: no answer", text)
		}
	}
}

// The server goes away in the middle of a test.
func TestServerDies(t *testing.T) {
	for _, test := range []string{"am_lat", "am_bw", "put_lat", "get"} {
		for _, asleep := range []bool{false, true} {
			addr, stop := listening(t)
			time.AfterFunc(100*time.Millisecond, stop)
			ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
			p := Params{Test: test, Size: 8, Iterations: 1 << 30}
			p.Sleep = asleep
			if !asleep {
				p.ErrorMode = braid.Peer
			}
			_, err := Run(ctx, addr, p, nil)
			if err == nil || ctx.Err() != nil {
				t.Errorf("%s, asleep %v: %v", test, asleep, err)
			}
			cancel()
		}
	}
}

func TestRunIsCanceled(t *testing.T) {
	addr, _ := listening(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	_, err := Run(ctx, addr, Params{Test: "put_bw", Size: 4096, Iterations: 1 << 30}, nil)
	if !errors.Is(err, why) && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPairsRun(t *testing.T) {
	addr, _ := listening(t)
	for test, size := range map[string]int{"am_bw": 64, "put_lat": 1 << 20, "get": 64} { // the end of a large put is seen before its sender has written all of it
		p := PairParams{Params: Params{Test: test, Size: size}, Pairs: 200, Block: 100 * time.Microsecond, Seed: 7}
		r, err := RunPairs(context.Background(), addr, p)
		if err != nil {
			t.Fatal(err)
		}
		q := r.Pair
		if q == nil || q.Pairs != 200 || q.Couples != couplesOf(200) || !(q.Low > 0 && q.Low <= q.Ratio && q.Ratio <= q.High) || q.Seed != 7 || r.ErrorMode != "failover/none" {
			t.Errorf("%+v %+v", r, q)
		}
	}
}

// What a client asks for is bounded before anything is made for it.
func TestSessionIsBounded(t *testing.T) {
	for _, n := range []note.Note{
		{Test: "am_bw", Size: maxSize + 1, Slots: 1},
		{Test: "am_bw", Size: -1, Slots: 1},
		{Test: "put_bw", Size: maxSize, Slots: 5},
		{Test: "put_bw", Size: 8, Slots: 0},
		{Test: "am_bw", Slots: 1, Total: 2*maxIterations + 1},
		{Test: "am_bw", Slots: 1, Total: maxVerified + 1, Verify: true}, // a bit of each
		{Test: "put_lat", Size: 7, Slots: 1},
	} {
		if _, err := newSession(nil, n, ""); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%+v: %v", n, err)
		}
	}
}
