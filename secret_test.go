package braid_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/secret"
	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/internal/wireup"
)

var plainSecret = []byte("plain to be seen, were it shown!")

func secretOf(t testing.TB, text []byte) braid.Secret {
	t.Helper()
	s, err := braid.SecretOf(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// eventLog keeps what Options.OnEvent is told.
type eventLog struct {
	mu  sync.Mutex
	all []braid.Event
}

func (l *eventLog) note(e braid.Event) {
	l.mu.Lock()
	l.all = append(l.all, e)
	l.mu.Unlock()
}

// find waits for an event of the kind.
func (l *eventLog) find(t *testing.T, k braid.EventKind) (e braid.Event) {
	t.Helper()
	if !eventually(func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, e = range l.all {
			if e.Kind == k {
				return true
			}
		}
		return false
	}) {
		t.Errorf("no event %v", k)
	}
	return e
}

// TestSecret: with the same secret on both sides everything is as without one, on the first lane and on further ones.
func TestSecret(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	o := braid.Options{Secret: secretOf(t, plainSecret), Rails: []string{"127.0.0.1", "127.0.0.2"}}
	p := connect(t, o, o)
	if n := len(p.a.Lanes()); n != 2 {
		t.Fatalf("%d lanes", n)
	}
	mem, err := p.bn.Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.a.Put(ctx, plainSecret, mem.Key(braid.Write), 16); err != nil {
		t.Fatal(err)
	}
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	p.aw.HandleAM(1, func(m *braid.Message) { got <- string(m.Payload()) })
	if err := p.b.SendAM(ctx, 1, nil, []byte("from the listening side")); err != nil { // which is up later
		t.Fatal(err)
	}
	if s := <-got; s != "from the listening side" {
		t.Error(s)
	}
	if err := p.a.Close(ctx); err != nil {
		t.Fatal(err)
	}
	// And without a network: who dials himself.
	own, err := p.bw.Dial(ctx, p.ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestSecretsDiffer: without the same secret nobody gets in. Both sides are told, at once, and by name.
func TestSecretsDiffer(t *testing.T) {
	tidy(t)
	none, a, b := braid.Secret{}, secretOf(t, plainSecret), braid.NewSecret()
	for _, c := range []struct {
		name           string
		dials, listens braid.Secret
		say            string
	}{
		{"the dialer has none", none, a, "listening side asks for a secret"},
		{"the listener has none", a, none, "dialing side asks for a secret"},
		{"they differ", b, a, "different secrets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log eventLog
			lw := worker(t, braid.Options{Secret: c.listens, OnEvent: log.note})
			ln, err := lw.Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			// Nothing here may end by a time-out: that would be ten minutes.
			dw := worker(t, braid.Options{Secret: c.dials, Times: braid.Times{Handshake: 10 * time.Minute}})
			ep, err := dw.Dial(testContext(t), ln.Addr())
			if ep != nil || !errors.Is(err, braid.ErrSecret) || !errors.Is(err, braid.ErrDial) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("dial: %v, %v", ep, err)
			}
			e := log.find(t, braid.TurnedAway)
			if e.Endpoint != nil || !errors.Is(e.Err, braid.ErrSecret) || !strings.Contains(e.Err.Error(), c.say) || !strings.Contains(e.Lane, ln.Addr()) {
				t.Errorf("event %+v", e)
			}
			if s := lw.Strangers(); s.Refused != 1 || s.Dropped != 1 {
				t.Errorf("strangers %+v", s)
			}
			nobodyArrives(t, ln)
		})
	}
}

// nobodyArrives checks that nothing was or is being accepted, once all that came is judged.
func nobodyArrives(t *testing.T, ln *braid.Listener) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if ep, err := ln.Accept(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("somebody got in: %v, %v", ep, err)
	}
}

// TestSecretOfOneCall: what is given to Listen or Dial counts instead of what the node has, also none.
func TestSecretOfOneCall(t *testing.T) {
	tidy(t)
	a, b := secretOf(t, plainSecret), braid.NewSecret()
	w := worker(t, braid.Options{Secret: a})
	listen := func(o ...braid.ListenOption) string {
		ln, err := w.Listen("127.0.0.1:0", o...)
		if err != nil {
			t.Fatal(err)
		}
		return ln.Addr()
	}
	node, own, open := listen(), listen(b), listen(braid.Secret{})
	dw := worker(t, braid.Options{})
	for _, c := range []struct {
		name, addr string
		with       []braid.DialOption
		in         bool
	}{
		{"node's", node, []braid.DialOption{a}, true}, {"node's, with another", node, []braid.DialOption{b}, false}, {"node's, without", node, nil, false},
		{"own", own, []braid.DialOption{b}, true}, {"own, with the node's", own, []braid.DialOption{a}, false},
		{"open", open, nil, true}, {"open, with one", open, []braid.DialOption{a}, false}, {"open, none in words", open, []braid.DialOption{a, braid.Secret{}}, true},
	} {
		ep, err := dw.Dial(testContext(t), c.addr, c.with...)
		if c.in != (err == nil) || !c.in && !errors.Is(err, braid.ErrSecret) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			ep.Abort()
		}
	}
}

// TestShortSecret: too few bytes are refused, with an error that says how many it takes.
func TestShortSecret(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("x"), []byte("fifteen bytes.."), make([]byte, 32)} {
		s, err := braid.SecretOf(b)
		if !errors.Is(err, braid.ErrSecret) || s.IsSet() || !strings.HasPrefix(err.Error(), "braid: ") {
			t.Errorf("%q: %v, %v", b, s, err)
		}
	}
	var s braid.Secret
	if err := s.UnmarshalText([]byte("hunter2")); !errors.Is(err, braid.ErrSecret) || s.IsSet() {
		t.Errorf("%v, %v", s, err)
	}
	want := secretOf(t, plainSecret)
	if err := s.UnmarshalText([]byte(want.Text() + "\n")); err != nil || !s.Equal(want) || s.Text() != want.Text() {
		t.Error(err)
	}
	if s, err := braid.ParseSecret(hex.EncodeToString(plainSecret)); err != nil || !s.Equal(want) {
		t.Error(err)
	}
}

// TestSecretsNotShown: no log, event, error or dump of anything shows a secret, a key made of it, or a key that a peer was given.
func TestSecretsNotShown(t *testing.T) {
	tidy(t)
	var said safeBuilder
	h := &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}
	log := slog.New(slog.NewTextHandler(&said, h))
	key := secretOf(t, plainSecret)
	tell := func(e braid.Event) { fmt.Fprintf(&said, "%v %+v %#v\n", e, e, e) }
	o := braid.Options{Secret: key, Log: log, OnEvent: tell, Rails: []string{"127.0.0.1", "127.0.0.2"}}
	p := connect(t, o, o)
	mem, err := p.bn.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	rkey := mem.Key(braid.Read)
	packed, err := wire.DecodeRKey(rkey.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	_, err = worker(t, braid.Options{Log: log, OnEvent: tell, Secret: braid.NewSecret()}).Dial(testContext(t), p.ln.Addr())
	if err == nil {
		t.Fatal("it got in")
	}
	if !eventually(func() bool { return strings.Contains(said.String(), "TurnedAway") }) {
		t.Fatal("nothing was logged: the test is of no use")
	}
	for _, v := range []any{key, &key, o, &o, err, rkey, p.an, p.aw, p.ln, p.a, mem, p.a.Lanes(), p.a.Stats(), p.bw.Strangers()} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&said, verb+"\n", v)
		}
		log.Info("value", "v", v)
		if b, err := json.Marshal(v); err == nil {
			said.Write(b)
		}
	}
	if !strings.Contains(fmt.Sprintf("%+v", o), "Secret:set") || !strings.Contains(fmt.Sprintf("%+v", braid.Options{}), "Secret:unset") {
		t.Errorf("%+v", o)
	}
	if b, err := json.Marshal(struct{ S braid.Secret }{key}); err != nil || string(b) != `{"S":"set"}` {
		t.Errorf("%s, %v", b, err)
	}
	ids := []string{string(plainSecret[:8]), hex.EncodeToString(plainSecret[:6]), strings.ToUpper(hex.EncodeToString(plainSecret[:6])),
		base64.StdEncoding.EncodeToString(plainSecret[:6]), key.Text()[15:25], "112 108 97 105", "0x70, 0x6c, 0x61",
		fmt.Sprint(uint64(packed.Secret)), fmt.Sprintf("%x", uint64(packed.Secret))}
	all := said.String()
	for _, id := range ids {
		if i := strings.Index(all, id); i >= 0 {
			t.Errorf("%q is shown: …%s…", id, all[max(0, i-100):min(len(all), i+100)])
		}
	}
}

// safeBuilder is a strings.Builder for several goroutines.
type safeBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *safeBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// recorder stands between a dialer and a listener, hands everything on, and keeps what each has said. Change may change it on its way.
type recorder struct {
	addr   string
	change func(toListener bool, b []byte) []byte

	mu   sync.Mutex
	said [2]bytes.Buffer // of the listener, of the dialer
}

func record(t *testing.T, to string, change func(bool, []byte) []byte) *recorder {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{addr: ln.Addr().String(), change: change}
	var work sync.WaitGroup
	t.Cleanup(work.Wait)
	t.Cleanup(func() { ln.Close() })
	work.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			l, err := net.Dial("tcp", to)
			if err != nil {
				c.Close()
				continue
			}
			work.Go(func() { r.hand(l, c, true) })
			work.Go(func() { r.hand(c, l, false) })
		}
	})
	return r
}

func (r *recorder) hand(to, from net.Conn, toListener bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		p := b[:n]
		if r.change != nil {
			p = r.change(toListener, p)
		}
		r.mu.Lock()
		i := 0
		if toListener {
			i = 1
		}
		r.said[i].Write(p)
		r.mu.Unlock()
		if _, err := to.Write(p); err != nil {
			return
		}
	}
}

func (r *recorder) heard(ofDialer bool) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ofDialer {
		return bytes.Clone(r.said[1].Bytes())
	}
	return bytes.Clone(r.said[0].Bytes())
}

// TestRecorded: who has heard a whole conversation, and repeats one side of it, gets nothing: neither into the listener, as the dialer, nor
// can he be a listener to the dialer.
func TestRecorded(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	key := secretOf(t, plainSecret)
	lw, dw := worker(t, braid.Options{Secret: key}), worker(t, braid.Options{Secret: key, Lanes: 1, Times: braid.Times{Handshake: time.Minute}})
	ran := make(chan string, 10)
	lw.HandleAM(1, func(m *braid.Message) { ran <- string(m.Payload()) })
	ln, err := lw.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, ln.Addr(), nil)
	ep, err := dw.Dial(ctx, r.addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := ep.SendAM(ctx, 1, nil, []byte("once")); err != nil {
		t.Fatal(err)
	}
	if err := ep.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if s := <-ran; s != "once" {
		t.Fatal(s)
	}
	if _, err := ln.Accept(ctx); err != nil {
		t.Fatal(err)
	}
	ep.Abort()
	before := lw.Strangers()
	said := r.heard(true)
	hello := 0
	for range 2 { // Preface, Hello
		hello += 16 + int(binary.LittleEndian.Uint32(said[hello:]))
	}
	again := stranger(t, ln.Addr(), said[:hello])
	if id, _ := answer(t, again); id != wire.IDHelloAck {
		t.Fatalf("the recorded Hello is answered with %s: the test is of no use", wire.Name(id))
	}
	if _, err := again.Write(said[hello:]); err != nil {
		t.Fatal(err)
	}
	closed(t, again)
	nobodyArrives(t, ln)
	if !eventually(func() bool { return lw.Strangers().Dropped > before.Dropped }) {
		t.Error("it was not counted")
	}
	select {
	case s := <-ran:
		t.Errorf("a recorded message was handled: %q", s)
	default:
	}
	said = r.heard(false)
	impostor := server(t, func(c net.Conn) { c.Write(said); io.Copy(io.Discard, c) })
	if _, err := dw.Dial(ctx, impostor); !errors.Is(err, braid.ErrSecret) {
		t.Errorf("a recorded listener: %v", err)
	}
	mirror := server(t, func(c net.Conn) {
		io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c}) // by hand: what the runtime splices with stays open
	})
	if _, err := dw.Dial(ctx, mirror); !errors.Is(err, braid.ErrSecret) {
		t.Errorf("a mirror: %v", err)
	}
}

// TestRecordedTwice: one recording has one place among those that are to be confirmed, however often it is sent.
func TestRecordedTwice(t *testing.T) {
	tidy(t)
	key, err := secret.From(plainSecret)
	if err != nil {
		t.Fatal(err)
	}
	lw := worker(t, braid.Options{Secret: secretOf(t, plainSecret)})
	ln, err := lw.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := hello()
	_, p := wireup.Open(wireup.Keys{Secret: key}, &h)
	for i := range 5 {
		s := stranger(t, ln.Addr(), raw(wire.IDPreface, control, p.AppendTo(nil), nil), rawHello(h))
		if id, _ := answer(t, s); i == 0 && id != wire.IDHelloAck || i > 0 && id != wire.IDReject {
			t.Errorf("time %d: %s", i+1, wire.Name(id))
		}
	}
	nobodyArrives(t, ln)
}

// TestChangedAddresses: the addresses that a listener names are believed only as it has said them.
func TestChangedAddresses(t *testing.T) {
	tidy(t)
	key := secretOf(t, plainSecret)
	ln, err := worker(t, braid.Options{Secret: key}).Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	named, forged := []byte(ln.Addr()), []byte(strings.Replace(ln.Addr(), "127.0.0.1", "127.0.0.9", 1))
	var changed atomic.Int64
	r := record(t, ln.Addr(), func(toListener bool, b []byte) []byte {
		if !toListener {
			changed.Add(int64(bytes.Count(b, named)))
			b = bytes.ReplaceAll(b, named, forged)
		}
		return b
	})
	_, err = worker(t, braid.Options{Secret: key}).Dial(testContext(t), r.addr)
	if !errors.Is(err, braid.ErrSecret) || changed.Load() == 0 {
		t.Errorf("%d changed: %v", changed.Load(), err)
	}
}
