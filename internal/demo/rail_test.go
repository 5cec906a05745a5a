package demo

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/transport"
)

func TestFindRails(t *testing.T) {
	const nowhere = "192.0.2.1" // for documentation: nobody has it
	r, note, err := findRails([]string{"127.0.0.1", nowhere})
	if err != nil || r.split() || !strings.Contains(note, nowhere) || len(r.local()) != 1 || r.Names[0] == r.Names[1] {
		t.Errorf("without a second address: %+v, %q, %v", r, note, err)
	}
	if _, _, err = findRails([]string{nowhere, "127.0.0.1"}); err == nil || !strings.Contains(err.Error(), nowhere) {
		t.Errorf("without the first: %v", err)
	}
	for _, bad := range [][]string{nil, {"127.0.0.1"}, {"127.0.0.1", "lo"}, {"127.0.0.1:1", "127.0.0.2"}, {"", ""}} {
		var u *UsageError
		if _, _, err := findRails(bad); !errors.As(err, &u) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if r, note, err = findRails([]string{"127.0.0.1", "127.0.0.1"}); err != nil || r.split() || note != "" {
		t.Errorf("twice the same: %+v, %q, %v", r, note, err)
	}
}

// nothing is a stream without a system below.
type nothing struct{ resets int }

func (*nothing) Read([]byte) (int, error) { return 0, transport.ErrAgain }
func (*nothing) Writev(p [][]byte) (n int, err error) {
	for _, b := range p {
		n += len(b)
	}
	return n, nil
}
func (*nothing) Connected() error { return nil }
func (*nothing) Shutdown() error  { return nil }
func (s *nothing) Reset() error   { s.resets++; return nil }
func (*nothing) Close(bool) error { return nil }
func (*nothing) FD() int          { return -1 }
func (*nothing) Reached() uint64  { return 0 }

// TestFenceOfOneAddress: the streams are told apart though their addresses are the same, and a new one
// takes the place of one that is gone.
func TestFenceOfOneAddress(t *testing.T) {
	r, _, _ := findRails([]string{"127.0.0.1", "127.0.0.1"})
	f := newFence(r, fault.New(now))
	a := f.Wrap(&nothing{}, "127.0.0.1:1", "127.0.0.1:9")
	b := f.Wrap(&nothing{}, "127.0.0.1:2", "127.0.0.1:9")
	if f.railOf("127.0.0.1:1->x") != 0 || f.railOf("127.0.0.1:2->x") != 1 || f.railOf("127.0.0.1:3->x") != -1 {
		t.Fatalf("places %v", f.places)
	}
	f.inj.Cut(r.Names[1], fault.Reset, time.Hour)
	if _, err := b.Writev([][]byte{{1}}); err != syscall.ECONNRESET {
		t.Errorf("the second rail is cut: %v", err)
	}
	if _, err := a.Writev([][]byte{{1}}); err != nil {
		t.Errorf("the first isn't: %v", err)
	}
	b.Close(false)
	b.Close(false)
	c := f.Wrap(&nothing{}, "127.0.0.1:4", "127.0.0.1:9")
	if err := c.Connected(); f.railOf("127.0.0.1:4->x") != 1 || err != syscall.ECONNREFUSED {
		t.Errorf("the new one runs on the second rail, which is still cut: %v", err)
	}
	c.Shutdown() // given up, and not yet closed
	if f.Wrap(&nothing{}, "127.0.0.1:5", "127.0.0.1:9"); f.railOf("127.0.0.1:5->x") != 1 {
		t.Error("what is dialed in the place of a lane that is lost has not its place")
	}
	c.Close(false)
}

// TestTrap: a small write passes, a large one is cut in the middle, and only on its rail.
func TestTrap(t *testing.T) {
	f := newFence(twoRails, fault.New(now))
	s0 := f.Wrap(&nothing{}, "127.0.0.1:1", "127.0.0.1:9")
	s1 := f.Wrap(&nothing{}, "127.0.0.2:1", "127.0.0.1:9")
	fired := 0
	f.arm(trap{rule: fault.Rule{Kind: fault.Reset}, rail: 1, least: 100, fired: func() { fired++ }})
	write := func(s transport.Stream, n int) error {
		_, err := s.Writev([][]byte{make([]byte, n/2), make([]byte, n-n/2)})
		return err
	}
	if write(s0, 500) != nil || write(s1, 99) != nil || fired != 0 {
		t.Fatalf("too early")
	}
	if err := write(s1, 100); err != syscall.ECONNRESET || fired != 1 || f.inj.Report()[0].Streams != 1 {
		t.Errorf("%v, fired %d times, %+v", err, fired, f.inj.Report())
	}
	if write(s0, 500) != nil || fired != 1 {
		t.Errorf("the other rail is not meant")
	}
}

func TestSourceOfGeneratedData(t *testing.T) {
	s, err := openSource("", 100)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 64)
	if n, err := s.read(p); n != 64 || err != nil {
		t.Fatal(n, err)
	}
	q := make([]byte, 64)
	if n, err := s.read(q); n != 36 || err != nil {
		t.Fatal(n, err)
	}
	if string(p[:36]) == string(q[:36]) {
		t.Error("two blocks are alike")
	}
	if n, err := s.read(q); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func TestChildWithoutParent(t *testing.T) {
	if err := Child("sender", nil, strings.NewReader(""), io.Discard); err == nil {
		t.Error("a role without a task")
	}
	if err := Child("king", nil, strings.NewReader(`{"Secret":"`+braid.NewSecret().Text()+`"}`), io.Discard); err != nil && !strings.Contains(err.Error(), "king") {
		t.Error(err)
	}
}
