//go:build linux && verbs

package verbs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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

// patience is for whatever works: machines are emulated, and busy.
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

// world is two nodes of this process with an endpoint of a lane on each rail between them, and what is sent over it all the time.
type world struct {
	t      *testing.T
	ctx    context.Context
	rails  []string
	links  []string
	ep     *braid.Endpoint
	mem    *braid.Memory
	key    braid.RKey
	faults *fault.Injector

	mu     sync.Mutex
	events []event
	next   uint64 // number of the message that must come
	bad    []string
	fence  []uint64 // rounds that were checked
}

// Messages of these tests.
const (
	amCount = 1 // a number; they come in order, each once
	amRound = 2 // a number: the memory has the data of that round, or of a later one
)

// dataBytes of each round of fenced puts; behind them is a word to which each message adds one.
const (
	dataBytes = 100_000 &^ 7
	sumAt     = 1 << 17
	memBytes  = sumAt + 8
)

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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	w := &world{t: t, ctx: ctx, rails: rails(t), faults: faults}
	for _, r := range w.rails {
		w.links = append(w.links, link(t, r))
	}
	to := node(t, braid.Options{Settings: settings(t, "verbs,self"), Rails: w.rails})
	from := node(t, braid.Options{Settings: settings(t, "verbs,self"), Rails: w.rails, Faults: faults, OnEvent: w.event})
	var err error
	if w.mem, err = to.Node().Alloc(memBytes); err != nil {
		t.Fatal(err)
	}
	w.key = w.mem.Key(braid.Read | braid.Write | braid.Atomic)
	to.HandleAM(amCount, w.counted)
	to.HandleAM(amRound, w.round)
	ln, err := to.Listen(net.JoinHostPort(w.rails[0], "0"))
	if err != nil {
		t.Fatal(err)
	}
	if w.ep, err = from.Dial(ctx, ln.Addr()); err != nil {
		t.Fatal(err)
	}
	w.until("both lanes", w.whole)
	return w
}

func (w *world) event(e braid.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, event{e, time.Now()})
}

func (w *world) counted(m *braid.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := binary.LittleEndian.Uint64(m.Header()); n != w.next {
		w.bad = append(w.bad, fmt.Sprintf("message %d came where %d was due", n, w.next))
	}
	w.next++
}

func (w *world) round(m *braid.Message) {
	n := binary.LittleEndian.Uint64(m.Header())
	for _, at := range []uint64{0, dataBytes / 2 &^ 7, dataBytes - 8} {
		if is := w.mem.Load64(at); is < n {
			w.mu.Lock()
			w.bad = append(w.bad, fmt.Sprintf("told of round %d, and the word at %d is of round %d", n, at, is))
			w.mu.Unlock()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fence = append(w.fence, n)
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
		w.until("all messages", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.next >= sent && len(w.fence) >= int(rounds) })
		w.mu.Lock()
		defer w.mu.Unlock()
		if sum := w.mem.Load64(sumAt); w.next != sent || sum != sent || len(w.fence) != int(rounds) || len(w.bad) > 0 {
			w.t.Errorf("%d messages and adds were sent: %d came, the sum is %d; %d of %d rounds were told; %v", sent, w.next, sum, len(w.fence), rounds, w.bad)
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
