//go:build linux && verbs

package verbs_test

import (
	"errors"
	"net"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/rdma"
	"github.com/openbraid/braid/rdma/verbs"
)

// link is the interface that has the device's address.
func link(t testing.TB) string {
	t.Helper()
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr() == address(t) {
				return i.Name
			}
		}
	}
	t.Fatalf("no interface has %v", address(t))
	return ""
}

func ip(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %v: %v: %s", args, err, out)
	}
}

// event waits for one of a type, and returns how long it took.
func event(t testing.TB, d rdma.Device, want rdma.EventType) time.Duration {
	t.Helper()
	var ev [8]rdma.Event
	begin := time.Now()
	for {
		n := d.PollEvents(ev[:])
		if slices.ContainsFunc(ev[:n], func(e rdma.Event) bool { return e.Type == want }) {
			return time.Since(begin)
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("no event: %v", want)
		}
	}
}

// TestPortFlaps: each of 20 ends and returns of the link is an event, and the port says how it is.
func TestPortFlaps(t *testing.T) {
	left(t)
	d, name := open(t), link(t)
	t.Cleanup(func() { ip(t, "link", "set", name, "up") })
	for i := range 20 {
		ip(t, "link", "set", name, "down")
		event(t, d, rdma.EventPortDown)
		if s := d.Port().State; s != rdma.PortDown {
			t.Errorf("%d: the port is %v after it went down", i, s)
		}
		ip(t, "link", "set", name, "up")
		event(t, d, rdma.EventPortActive)
		if s := d.Port().State; s != rdma.PortActive {
			t.Errorf("%d: the port is %v after it came up", i, s)
		}
	}
}

// TestGIDChanges: an address that comes or goes is an event, and in the table; connections that had it say why they can't be made.
func TestGIDChanges(t *testing.T) {
	left(t)
	d, name := open(t), link(t)
	extra := netip.MustParseAddr("10.99.7.1")
	has := func() bool {
		return slices.ContainsFunc(d.GIDs(), func(g rdma.GIDEntry) bool { return g.GID.IP() == extra && g.Type == rdma.RoCEv2 })
	}
	if has() {
		t.Fatal("it is there already")
	}
	ip(t, "addr", "add", extra.String()+"/24", "dev", name)
	event(t, d, rdma.EventGIDChange)
	if !has() {
		t.Errorf("%v was added, and is not in %v", extra, d.GIDs())
	}
	ip(t, "addr", "del", extra.String()+"/24", "dev", name)
	event(t, d, rdma.EventGIDChange)
	for end := time.Now().Add(time.Minute); has(); {
		if time.Now().After(end) {
			t.Fatalf("%v was taken away, and is in %v", extra, d.GIDs())
		}
	}
	pd, err := d.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pd.CreateAH(rdma.AHAttr{DGID: rdma.GIDFrom(address(t)), SGIDIndex: 200}); !errors.Is(err, rdma.ErrInvalid) {
		t.Errorf("a row that isn't there: %v", err)
	}
}

// TestOtherInterface: addresses to which the system would send through another interface are refused by what the routes say. The kernel would ask for them on this one's, and
// wait for an answer that nobody gives.
func TestOtherInterface(t *testing.T) {
	left(t)
	d := open(t)
	ip(t, "link", "add", "other0", "type", "dummy")
	t.Cleanup(func() { ip(t, "link", "del", "other0") })
	ip(t, "addr", "add", "10.99.6.1/24", "dev", "other0")
	ip(t, "link", "set", "other0", "up")
	pd, err := d.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for _, g := range d.GIDs() {
		if g.GID.IP() == address(t) {
			row = g.Index
		}
	}
	for to, want := range map[string]string{
		"10.99.6.1": "not the interface of", "10.99.6.2": "other0, which is not the interface of", "203.0.113.1": "no way", address(t).String(): "",
	} {
		h, err := pd.CreateAH(rdma.AHAttr{DGID: rdma.GIDFrom(netip.MustParseAddr(to)), SGIDIndex: row})
		if want == "" && err != nil || want != "" && (!errors.Is(err, rdma.ErrUnreachable) || !strings.Contains(err.Error(), want)) {
			t.Errorf("to %s: %v", to, err)
		}
		if err == nil {
			_ = h.Destroy()
		}
	}
}

// TestOpen: what can't be opened is said with what can.
func TestOpen(t *testing.T) {
	left(t)
	if _, err := verbs.Open(verbs.Config{Address: netip.MustParseAddr("10.1.2.3")}); !errors.Is(err, verbs.ErrNoDevice) {
		t.Errorf("an address that no device has: %v", err)
	}
	if _, err := verbs.Open(verbs.Config{Name: "none0", Port: 1}); !errors.Is(err, verbs.ErrNoDevice) {
		t.Errorf("a name that no device has: %v", err)
	}
	list, err := verbs.List()
	if err != nil || !slices.ContainsFunc(list, func(i verbs.Info) bool {
		return i.Reason == "" && slices.ContainsFunc(i.GIDs, func(g rdma.GIDEntry) bool { return g.GID.IP() == address(t) })
	}) {
		t.Errorf("%+v, %v: %v is missing", list, err, address(t))
	}
}

// TestGone: a device that the system takes away while it is open says so, also to who sleeps, can be closed, and leaves others alone. The kernel waits for that: rdma_rxe's users hear of it by the
// event of its name only, and of its port if the interface goes too.
func TestGone(t *testing.T) {
	left(t)
	l := newLoop(t)
	for _, how := range [][]string{{"rdma", "link", "delete", "rxegone"}, {"ip", "link", "delete", "gone0"}} {
		_ = exec.Command("ip", "link", "del", "gone0").Run()
		ip(t, "link", "add", "gone0", "type", "dummy")
		t.Cleanup(func() { _ = exec.Command("ip", "link", "del", "gone0").Run() })
		ip(t, "addr", "add", "10.99.8.1/24", "dev", "gone0")
		ip(t, "link", "set", "gone0", "up")
		if out, err := exec.Command("rdma", "link", "add", "rxegone", "type", "rxe", "netdev", "gone0").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		d, err := verbs.Open(verbs.Config{Address: netip.MustParseAddr("10.99.8.1")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		del := exec.Command(how[0], how[1:]...)
		if err := del.Start(); err != nil {
			t.Fatal(err)
		}
		fds := []unix.PollFd{{Fd: int32(d.EventFD()), Events: unix.POLLIN}}
		if n, err := unix.Poll(fds, 60000); n != 1 {
			t.Fatalf("%v: who sleeps was not woken: %v", how, err)
		}
		took := event(t, d, rdma.EventDeviceFatal)
		if n := d.PollEvents(make([]rdma.Event, 8)); n != 0 {
			t.Errorf("%v: %d events more", how, n)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := del.Wait(); err != nil {
			t.Error(err)
		}
		t.Logf("%v: known after %v", how, took)
	}
	// The other one is as it was, and heard nothing.
	l.qp.PostSend(l.list(1))
	l.wait(1)
	var ev [8]rdma.Event
	for range 200 {
		if n := l.dev.PollEvents(ev[:]); slices.ContainsFunc(ev[:n], func(e rdma.Event) bool { return e.Type == rdma.EventDeviceFatal }) {
			t.Error("a device that is there is said to be gone")
		}
	}
}

// TestFatal: what an adapter says itself. The event's descriptor is replaced by a pipe, which says it.
func TestFatal(t *testing.T) {
	left(t)
	d := open(t)
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	if err := unix.Dup3(pipe[0], verbs.AsyncFD(d), unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	const fatal = 8 // IBV_EVENT_DEVICE_FATAL
	if _, err := unix.Write(pipe[1], []byte{0, 0, 0, 0, 0, 0, 0, 0, fatal, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	event(t, d, rdma.EventDeviceFatal)
}
