//go:build linux && verbs

package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/verbs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// retryTime is how long an adapter asks for an answer until it gives up: what a loss costs that nothing else tells of.
var retryTime = 7 * rdma.AckTimeout(14) // the kernel's device repeats six times

// patience is for whatever works: machines are emulated, and busy. A test as a whole has several times that.
const patience = 2 * time.Minute

// rails are the addresses of the adapters under test.
func rails(t testing.TB) []string {
	t.Helper()
	list := strings.Split(os.Getenv("BRAID_VERBS_RAILS"), ",")
	if len(list) != 2 {
		t.Fatal("BRAID_VERBS_RAILS must be the addresses of two RoCE devices, as 10.77.0.1,10.77.1.1; make verbs runs these tests in a virtual machine that has them")
	}
	return list
}

// link is the interface that has an address.
func link(t testing.TB, addr string) string {
	t.Helper()
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		all, _ := i.Addrs()
		for _, a := range all {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().String() == addr {
				return i.Name
			}
		}
	}
	t.Fatalf("no interface has %s", addr)
	return ""
}

// run runs a command.
func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
}

// event is one of an endpoint's, and when it was told.
type event struct {
	braid.Event
	at time.Time
}

// world is a node with an endpoint of a lane on each rail, to another node of this process or to one of another machine, and what is sent over it all the time.
type world struct {
	t      *testing.T
	ctx    context.Context
	rails  []string
	links  []string
	ep     *braid.Endpoint
	key    braid.RKey
	faults *fault.Injector
	said   chan []byte // what the other side answers

	mu     sync.Mutex
	events []event
}

func settings(t testing.TB, transports string) *braid.Settings {
	t.Helper()
	s := new(braid.Settings)
	for _, kv := range [][2]string{{"transports", transports}, {"rc-trust", "network"}} {
		if err := s.Set(kv[0], kv[1], "the test"); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func node(t testing.TB, o braid.Options) *braid.Worker {
	t.Helper()
	o.Times.RedialMin, o.Times.RedialMax, o.Times.Handshake = 20*time.Millisecond, 500*time.Millisecond, patience
	n, err := braid.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	w, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// left fails the test if it leaves objects of libibverbs behind. It is called before they are made.
func left(t testing.TB) {
	t.Helper()
	before := verbs.Objects()
	t.Cleanup(func() {
		if n := verbs.Objects() - before; n != 0 {
			t.Errorf("%d objects of libibverbs are left", n)
		}
		t.Logf("objects left: %d", verbs.Objects()-before)
	})
}

func newWorld(t *testing.T, faults *fault.Injector) *world {
	t.Helper()
	left(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, rails: rails(t), faults: faults, said: make(chan []byte, 1)}
	for _, r := range w.rails {
		w.links = append(w.links, link(t, r))
	}
	addr := net.JoinHostPort(os.Getenv("BRAID_VERBS_PEER"), servePort)
	if os.Getenv("BRAID_VERBS_PEER") == "" {
		to := node(t, braid.Options{Settings: settings(t, "verbs,self"), Rails: w.rails})
		newKeeper(t, to)
		ln, err := to.Listen(net.JoinHostPort(w.rails[0], "0"))
		if err != nil {
			t.Fatal(err)
		}
		addr = ln.Addr()
	}
	from := node(t, braid.Options{Settings: settings(t, "verbs,self"), Rails: w.rails, Faults: faults, OnEvent: w.event})
	answered := func(m *braid.Message) { w.said <- append([]byte(nil), m.Payload()...) }
	from.HandleAM(amHello, answered)
	from.HandleAM(amTally, answered)
	w.dial(from, addr)
	w.until("both lanes", w.whole)
	var err error
	if w.key, err = braid.ParseRKey(w.ask(amHello)); err != nil {
		t.Fatal(err)
	}
	return w
}

// dial dials a node that may not be there yet.
func (w *world) dial(from *braid.Worker, addr string) {
	w.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		var err error
		if w.ep, err = from.Dial(w.ctx, addr); err == nil {
			return
		}
		if time.Now().After(end) {
			w.t.Fatal(err)
		}
	}
}

// ask asks the other side something.
func (w *world) ask(id uint16) []byte {
	w.t.Helper()
	if err := w.ep.SendAM(w.ctx, id, nil, nil); err != nil {
		w.t.Fatal(err)
	}
	select {
	case b := <-w.said:
		return b
	case <-w.ctx.Done():
		w.t.Fatalf("no answer to message %d; lanes %+v, events %v", id, w.ep.Lanes(), w.seen(0))
		return nil
	}
}

func (w *world) event(e braid.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, event{e, time.Now()})
}

// until waits for something that must come.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("waited in vain for %s; lanes %+v, events %v", what, w.ep.Lanes(), w.seen(0))
		}
	}
}

// whole says whether a lane stands on each rail.
func (w *world) whole() bool {
	up := 0
	for _, l := range w.ep.Lanes() {
		if l.State == "up" {
			up++
		}
	}
	return up == len(w.rails)
}

// seen are the events from the nth on.
func (w *world) seen(n int) []event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]event(nil), w.events[n:]...)
}

// find is the first event of a kind from the nth on.
func (w *world) find(n int, k braid.EventKind) (event, bool) {
	for _, e := range w.seen(n) {
		if e.Kind == k {
			return e, true
		}
	}
	return event{}, false
}

// load sends messages, fenced puts and fetch-and-adds until stop is called, which waits for all of it and says whether each was executed once and in order.
func (w *world) load() (stop func()) {
	quit, done := make(chan struct{}), make(chan error, 1)
	var sent, rounds uint64
	go func() {
		data := make([]byte, dataBytes)
		for {
			select {
			case <-quit:
				done <- w.ep.Flush(w.ctx)
				return
			default:
			}
			rounds++
			for i := 0; i < len(data); i += 8 {
				binary.NativeEndian.PutUint64(data[i:], rounds)
			}
			if err := w.once(data, sent, rounds); err != nil {
				done <- err
				return
			}
			sent++
		}
	}()
	return func() {
		w.t.Helper()
		close(quit)
		if err := <-done; err != nil {
			w.t.Fatalf("%v; events %v", err, w.seen(0))
		}
		var is tally
		w.until("all messages", func() bool {
			is = parseTally(w.t, w.ask(amTally))
			return is.Messages >= sent && is.Rounds >= rounds
		})
		if is.Messages != sent || is.Sum != sent || is.Rounds != rounds || len(is.Bad) > 0 {
			w.t.Errorf("%d messages and adds were sent, and %d rounds: it is %+v", sent, rounds, is)
		}
		w.t.Logf("%d messages, %d fetch-and-adds, %d fenced puts of %d bytes: each once, in order", sent, sent, rounds, dataBytes)
	}
}

// once is one turn of the load.
func (w *world) once(data []byte, sent, round uint64) error {
	number := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	put := w.ep.PostPut(data, w.key, 0)
	w.ep.Fence()
	told := w.ep.PostAM(amRound, number(round), nil)
	w.ep.Fence()
	count := w.ep.PostAM(amCount, number(sent), nil)
	_, err := w.ep.Word64(w.key, sumAt).FetchAdd(w.ctx, 1)
	return errors.Join(err, put.Wait(w.ctx), told.Wait(w.ctx), count.Wait(w.ctx))
}

// closes ends the endpoint as a program does.
func (w *world) closes() {
	w.t.Helper()
	if err := w.ep.Close(w.ctx); err != nil {
		w.t.Error(err)
	}
}
