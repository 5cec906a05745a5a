package self_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/self"
)

func TestErrors(t *testing.T) {
	f, other := open(t), open(t)
	sink := &end{}
	l, err := f.Listen("self:7", sink)
	if err != nil || l.Addr() != "self:7" {
		t.Fatalf("Listen = %v, %v", l, err)
	}
	is := func(what string, err, want error, text string) {
		t.Helper()
		if !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("%s: %v, want %v with %q", what, err, want, text)
		}
	}
	for _, addr := range []string{"", "self", "self:", "self:x", "self:-1", "self:65536", "127.0.0.1:7", ":7", "self:7:8"} {
		_, err := f.Listen(addr, sink)
		is("Listen "+addr, err, self.ErrAddress, "listen at self:PORT")
		_, err = f.Dial("", addr, transport.Options{}, sink)
		is("Dial "+addr, err, self.ErrAddress, "dial self:PORT")
	}
	_, err = f.Dial("127.0.0.1", "self:7", transport.Options{}, sink)
	is("Dial from elsewhere", err, self.ErrAddress, `from "127.0.0.1"`)
	_, err = f.Listen("self:7", sink)
	is("Listen twice", err, self.ErrInUse, `"self:7"`)

	dial := func(f transport.Iface, addr string) *end {
		s := &end{}
		if s.ep, err = f.Dial("self", addr, transport.Options{}, s); err != nil {
			t.Fatal(err)
		}
		f.Progress()
		return s
	}
	is("another worker", dial(other, "self:7").err, self.ErrNobody, "same worker only")
	is("nobody", dial(f, "self:8").err, self.ErrNobody, `dial "self:8" from "self:`)
	if s := dial(f, "self:7"); !s.up || s.err != nil {
		t.Errorf("a good dial: %v, %v", s.up, s.err)
	}
	f.Close()
	_, err = f.Listen("self:9", sink)
	is("Listen after Close", err, transport.ErrClosed, "listen")
	_, err = f.Dial("", "self:7", transport.Options{}, sink)
	is("Dial after Close", err, transport.ErrClosed, "dial")
}

func TestPorts(t *testing.T) {
	f := open(t)
	seen := map[string]bool{}
	var first transport.Listener
	for i := range 40000 { // more than there are: they come again once they are free
		l, err := f.Listen("self:0", &end{})
		if err != nil || seen[l.Addr()] && i < 1000 {
			t.Fatalf("listener %d: %v, %v", i, l, err)
		}
		seen[l.Addr()] = true
		if i == 0 {
			first = l
			continue
		}
		if l.Addr() == first.Addr() {
			t.Fatalf("%s is in use", l.Addr())
		}
		l.Close()
	}
}
