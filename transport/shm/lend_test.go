//go:build linux

package shm

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/segment"
)

// lending is a sink whose side lends one piece of memory, by the key that is its first byte.
type lending struct {
	plain
	x    transport.Export
	asks int
}

func (l *lending) Lend(key transport.MemKey) (loan transport.Loan) {
	if l.asks++; key[0] != 0 && l.x != nil {
		loan = transport.Loan{Export: l.x, Rights: key[0], Write: key[0] > 1}
	}
	return loan
}

func (l *lending) Accepted(ep transport.Endpoint) (transport.Sink, transport.Options) {
	l.plain.Accepted(ep)
	return l, transport.Options{}
}

// shop is an owner of memory, and who borrows it.
type shop struct {
	*testing.T
	own, borrow *iface
	l           transport.Listener
	server      *lending
	x           transport.Export
}

func newShop(t *testing.T, size int) *shop {
	t.Helper()
	tr := New(Options{Slots: 8, Data: 128 << 10})
	s := &shop{T: t, own: openedOn(t, tr), borrow: opened(t), server: &lending{}}
	var err error
	if s.x, err = tr.(transport.Lender).Export(size); err != nil {
		t.Fatal(err)
	}
	s.server.x = s.x
	if s.l, err = s.own.Listen("shm:0", s.server); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.own.Close(); s.borrow.Close() })
	return s
}

func keyBytes(b byte) []byte {
	key := transport.MemKey{b}
	return key[:]
}

func (s *shop) until(what string, cond func() bool) {
	s.Helper()
	for end := time.Now().Add(20 * time.Second); !turns(300, cond, s.own, s.borrow); {
		if time.Now().After(end) {
			s.Fatalf("gave up: %s", what)
		}
	}
}

// connect dials, and returns both ends.
func (s *shop) connect() (client *plain, server *endpoint) {
	s.Helper()
	client = &plain{}
	var err error
	s.server.ep = nil
	if client.ep, err = s.borrow.Dial("", s.l.Addr(), transport.Options{}, client); err != nil {
		s.Fatal(err)
	}
	s.until("a connection", func() bool { return client.up && s.server.ep != nil })
	client.ep.Admit(maxFrame, true)
	return client, s.server.ep.(*endpoint)
}

// borrowed is what comes of a key.
func (s *shop) borrowed(client *plain, key byte) (w *transport.Window) {
	s.Helper()
	s.until("memory", func() bool {
		w = client.ep.(transport.Borrower).Borrow(transport.MemKey{key})
		return w != nil
	})
	return w
}

// TestLend: memory is borrowed once by each connection, with its rights; a key that is for nothing brings nothing, and is asked for once.
func TestLend(t *testing.T) {
	s := newShop(t, 100)
	a, _ := s.connect()
	w := s.borrowed(a, 2)
	mem := w.Enter()
	if w.Enter() != nil {
		t.Error("inside twice")
	}
	copy(mem, "hello")
	w.Leave()
	if got := string(s.x.Bytes()[:5]); got != "hello" || w.Rights != 2 {
		t.Errorf("the owner has %q, the rights are %d", got, w.Rights)
	}
	b, _ := s.connect()
	v := s.borrowed(b, 1)
	if v.Enter() == nil || w.Enter() == nil {
		t.Error("two borrowers are in each other's way")
	}
	v.Leave()
	w.Leave()
	asks := s.server.asks
	for range 3 {
		if a.ep.(transport.Borrower).Borrow(transport.MemKey{0, 1}) != nil {
			t.Fatal("something was lent for a key of nothing")
		}
		turns(600, never, s.own, s.borrow)
	}
	if s.server.asks != asks+1 || s.borrow.turn.expected != 0 {
		t.Errorf("asked %d times for nothing, %d are waited for", s.server.asks-asks, s.borrow.turn.expected)
	}
}

// TestE14_RevokeInside: while somebody is inside, Revoke says so; nobody enters after it; and the borrower gives the memory back.
func TestE14_RevokeInside(t *testing.T) {
	s := newShop(t, 100)
	a, server := s.connect()
	w := s.borrowed(a, 2)
	w.Enter()
	if s.x.Revoke() {
		t.Error("Revoke does not see who is inside")
	}
	w.Leave()
	if w.Enter() != nil {
		t.Error("somebody entered after Revoke")
	}
	for range 2 {
		if !s.x.Revoke() {
			t.Error("nobody is inside, and Revoke does not say so")
		}
	}
	s.until("the memory to be given back", func() bool { return a.ep.(*endpoint).borrowed.Len() == 0 })
	if w.Enter() != nil || len(server.lent.Revoked(s.own.desk)) != 0 {
		t.Error("something is lent still")
	}
	if w := a.ep.(transport.Borrower).Borrow(transport.MemKey{2}); w != nil {
		t.Error("lent again")
	}
	turns(600, never, s.own, s.borrow)
	if a.err != nil || s.server.err != nil {
		t.Errorf("%v, %v", a.err, s.server.err)
	}
}

// TestLendAgain: gates are used again when their borrowers are gone, whoever hung up; and no descriptor stays.
func TestLendAgain(t *testing.T) {
	s := newShop(t, 100)
	for i := range 150 {
		a, server := s.connect()
		w := s.borrowed(a, 2)
		first, second := a.ep, transport.Endpoint(server)
		if i%2 == 0 {
			first, second = second, first
		}
		if first.Quiesce(); i%3 == 0 && i%2 == 0 && w.Enter() != nil {
			t.Fatal("the owner has quiesced the connection, and somebody enters")
		}
		first.Close()
		s.until("the end", func() bool { return a.err != nil || s.server.err != nil })
		second.Close()
		s.server.err = nil
		if w.Enter() != nil {
			t.Fatal("somebody enters over a connection that is closed")
		}
	}
	s.until("nothing to be left", func() bool { return sockets(s.own) == 0 })
	if n, _ := s.own.desk.Open(); n != 1 || !s.x.Revoke() {
		t.Errorf("%d pieces of memory can be lent", n)
	}
	if n, _ := s.own.desk.Open(); n != 0 {
		t.Errorf("%d pieces of memory can be lent, after Revoke", n)
	}
}

func sockets(f *iface) int {
	_, n := f.desk.Open()
	return n
}

// TestKilledInside: a borrower who is killed in the middle of a copy holds nothing up.
func TestKilledInside(t *testing.T) {
	s := newShop(t, 100)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BRAID_SHM_CHILD="+s.l.Addr(), "BRAID_SHM_BORROW=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	inside := make(chan struct{})
	go func() {
		r := bufio.NewReader(out)
		for line := ""; line != "inside\n" && err == nil; line, err = r.ReadString('\n') {
		}
		close(inside)
	}()
	s.until("the child to be inside", func() bool {
		select {
		case <-inside:
			return true
		default:
			return false
		}
	})
	if s.x.Revoke() {
		t.Error("nobody is inside")
	}
	s.server.ep.Close() // this side hangs up first
	if s.x.Revoke() {
		t.Error("nobody is inside, after this side has hung up")
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !s.x.Revoke() {
		t.Error("the borrower is dead, and Revoke waits for him")
	}
}

// borrower is the child that TestKilledInside kills.
func borrower(f *iface, p *plain) {
	for !p.up {
		f.Progress()
		f.Flush()
	}
	p.ep.Admit(maxFrame, true)
	for {
		if w := p.ep.(transport.Borrower).Borrow(transport.MemKey{2}); w != nil && w.Enter() != nil {
			fmt.Println("inside")
			time.Sleep(time.Minute)
		}
		f.Progress()
		f.Flush()
	}
}

// TestLendGarbage: what is no memory, and what nobody asked for, costs the connection and nothing else.
func TestLendGarbage(t *testing.T) {
	key := transport.MemKey{0, 9}
	good := make([]byte, 32)
	copy(good, key[:])
	binary.LittleEndian.PutUint64(good[16:], 2*uint64(os.Getpagesize()))
	good[28], good[29] = 2, 1
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(null)
	for name, c := range map[string]struct {
		msg []byte
		fd  int
	}{
		"no memory":    {slices.Clone(good), -1},
		"another file": {slices.Clone(good), null},
		"short":        {slices.Clone(good)[:31], null},
		"long":         {append(slices.Clone(good), 0), null},
		"reserved":     {append(slices.Clone(good)[:31], 1), null},
	} {
		s := newShop(t, 100)
		a, server := s.connect()
		other, _ := s.connect()
		s.server.x = nil // nothing is lent: only the garbage comes
		if a.ep.(transport.Borrower).Borrow(key) != nil {
			t.Fatal("lent")
		}
		if err := segment.Send(server.fd, c.msg, c.fd); err != nil {
			t.Fatal(err)
		}
		turns(600, func() bool { return a.err != nil }, s.borrow)
		if !errors.Is(a.err, transport.ErrProtocol) {
			t.Errorf("%s: %v", name, a.err)
		}
		if turns(600, never, s.own, s.borrow); other.err != nil {
			t.Errorf("%s: another connection: %v", name, other.err)
		}
	}
	s := newShop(t, 100)
	a, server := s.connect()
	s.borrowed(a, 2)
	a.ep.(*endpoint).sayOwn(flagAsk, keyBytes(2))
	s.until("an end", func() bool { return s.server.err != nil })
	if !errors.Is(s.server.err, transport.ErrProtocol) || server.state != broken {
		t.Errorf("asked twice: %v", s.server.err)
	}
	s.server.err = nil
	b, server := s.connect()
	server.sayOwn(flagRecall, keyBytes(77))
	s.until("an end", func() bool { return b.err != nil })
	if !errors.Is(b.err, transport.ErrProtocol) {
		t.Errorf("recalled what was not lent: %v", b.err)
	}
}
