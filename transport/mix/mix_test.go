package mix_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/mix"
	"github.com/openbraid/braid/transport/sim"
	"github.com/openbraid/braid/transport/transporttest"
)

// TestConformance: the pair's addresses belong to the part, or to the rest.
func TestConformance(t *testing.T) {
	for _, part := range []bool{false, true} {
		t.Run(fmt.Sprintf("part=%v", part), func(t *testing.T) {
			transporttest.Run(t, func(t testing.TB) *transporttest.Pair {
				n, idle := sim.New(1, sim.Config{}), sim.New(2, sim.Config{})
				open := func(name string) transport.Iface {
					h, other := n.Host(name), idle.Host(name)
					m := mix.New(h, mix.Part{Transport: other, Takes: func(string) bool { return false }})
					if part {
						m = mix.New(other, mix.Part{Transport: h, Takes: func(host string) bool { return host == "a0" || host == "b0" }})
					}
					i, err := m.Open(h.Env())
					if err != nil {
						t.Fatal(err)
					}
					return i
				}
				return &transporttest.Pair{
					Client: open("a"), Server: open("b"), Addr: "b0:0", Nobody: "b0:9", Now: n.Now,
					Advance: func() { n.StepTo(n.Now() + 50*time.Microsecond) }, Slack: 200 * time.Microsecond,
				}
			})
		})
	}
}

func TestDifferentTransports(t *testing.T) {
	n := sim.New(1, sim.Config{})
	a, b := n.Host("a"), n.Host("b")
	i, err := mix.New(a, mix.Part{Transport: b, Takes: func(host string) bool { return host[0] == 'b' }}).Open(a.Env())
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if _, err := i.Dial("a0", "b0:1", transport.Options{}, nil); err == nil {
		t.Error("a dial from one transport's address to another's")
	}
}

// lender is a transport that lends.
type lender struct{ transport.Transport }

func (lender) Export(int) (transport.Export, error) { return nil, errLent }

var errLent = errors.New("asked")

// TestLends: memory is lent by the part that can, and by nobody if none can.
func TestLends(t *testing.T) {
	n := sim.New(1, sim.Config{})
	a, b := n.Host("a"), n.Host("b")
	none := func(string) bool { return false }
	if _, ok := mix.New(a, mix.Part{Transport: b, Takes: none}).(transport.Lender); ok {
		t.Error("nobody can, and it is said that the mix does")
	}
	for _, m := range []transport.Transport{mix.New(lender{a}, mix.Part{Transport: b, Takes: none}), mix.New(a, mix.Part{Transport: lender{b}, Takes: none})} {
		l, ok := m.(transport.Lender)
		if !ok {
			t.Fatal("a part can, and the mix does not")
		}
		if _, err := l.Export(1); !errors.Is(err, errLent) {
			t.Error(err)
		}
	}
}
