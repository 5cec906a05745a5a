package rc_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/openbraid/braid/rdma"
)

// at are the open devices of an address.
func (w *network) at(a netip.Addr) (list []*nic) {
	for _, n := range w.live() {
		if n.Addr().Addr() == a {
			list = append(list, n)
		}
	}
	return list
}

// works: a new connection carries frames.
func (s *pairs) works() (c, d *peer) {
	s.Helper()
	c, d = s.connect()
	c.posts(5, 3000)
	s.until("frames", func() bool { return d.got == 5 && c.first() == 5 })
	return c, d
}

// TestListenerOutlivesDevices: a device that fails, or whose port stays down, is closed, whatever the engine does about its endpoints; its listener opens it anew, at the same
// address, as soon as it can, and what was under way is handed over meanwhile.
func TestListenerOutlivesDevices(t *testing.T) {
	for name, ends := range map[string]func(*pairs){
		"failed": func(s *pairs) { s.at(addrB)[0].say(rdma.Event{Type: rdma.EventDeviceFatal}) },
		"down":   func(s *pairs) { s.SetLink(addrB, false) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newPairs(t, 70, quick)
			c, d := s.connect()
			e, f := s.works()
			addr, device := s.ln.Addr(), s.at(addrB)[0]
			s.silence(d.ep)
			d.posts(3, 5000)
			began := s.Now()
			ends(s)
			s.until("the notices", func() bool { return len(d.errs)+len(f.errs) == 2 })
			s.until("the end of the device, while its endpoints are held", func() bool { return device.gone })
			if took := s.Now() - began; took > 2*time.Second {
				t.Errorf("it was closed after %v", took)
			}
			d.quiesce()
			if r, err := d.purge(0, -1); err != nil || r.Handed != 3 {
				t.Errorf("of an endpoint whose device is closed: %+v, %v", r, err)
			}
			if name == "down" {
				s.settle(3 * time.Second)
				if n := len(s.at(addrB)); n != 0 {
					t.Errorf("%d devices are open while the port is down", n)
				}
				s.SetLink(addrB, true)
				began = s.Now()
			}
			s.until("another device", func() bool { l := s.at(addrB); return len(l) == 1 && l[0].Port().State == rdma.PortActive })
			s.settle(time.Millisecond)
			if s.ln.Addr() != addr {
				t.Errorf("it listens at %s, not %s", s.ln.Addr(), addr)
			}
			s.idle(c, d, e, f)
			g, h := s.works()
			if took := s.Now() - began; took > time.Second {
				t.Errorf("it was there again after %v", took)
			}
			s.idle(g, h)
		})
	}
}

// TestRowMoves: an address that went and came may have another row of the port's table. What knows the old one is let go of, on either side.
func TestRowMoves(t *testing.T) {
	for _, addr := range []netip.Addr{addrA, addrB} {
		s := newPairs(t, 74, quick)
		c, d := s.works()
		device := s.at(addr)[0]
		for _, bare := range []bool{true, false} {
			device.bare, device.moved = bare, !bare
			device.say(rdma.Event{Type: rdma.EventGIDChange})
			s.settle(time.Millisecond)
			if device.gone == bare {
				t.Errorf("%v: without the address %v, closed %v", addr, bare, device.gone)
			}
		}
		s.settle(500 * time.Millisecond)
		g, h := s.works()
		s.idle(c, d, g, h)
	}
}

// TestShortDown: a port that is back within a second keeps its device.
func TestShortDown(t *testing.T) {
	s := newPairs(t, 71, quick)
	c, d := s.connect()
	device := s.at(addrB)[0]
	for range 20 {
		s.SetLink(addrB, false)
		s.settle(20 * time.Millisecond)
		s.SetLink(addrB, true)
		s.settle(20 * time.Millisecond)
	}
	s.settle(2 * time.Second)
	if device.gone || len(d.errs) != 1 {
		t.Errorf("closed: %v; told: %v", device.gone, d.errs)
	}
	g, h := s.works()
	s.idle(c, d, g, h)
}

// TestListenerWaits: a listener without a device can be closed, with its interface too, and opens nothing after that.
func TestListenerWaits(t *testing.T) {
	s := newPairs(t, 72, quick)
	c, d := s.connect()
	s.SetLink(addrB, false)
	s.until("the end of the device", func() bool { return len(s.at(addrB)) == 0 })
	if err := s.ln.Close(); err != nil {
		t.Error(err)
	}
	s.SetLink(addrB, true)
	s.idle(c, d)
	s.settle(2 * time.Second)
	if n := len(s.at(addrB)); n != 0 {
		t.Errorf("%d devices were opened for a listener that is closed", n)
	}
}

// TestDialerLetsGo: who dialed lets go of a device too, while nobody has closed the endpoints yet, and finds it again.
func TestDialerLetsGo(t *testing.T) {
	s := newPairs(t, 73, quick)
	c, d := s.connect()
	c.posts(2, 100)
	s.SetLink(addrA, false)
	s.until("the end of the device", func() bool { return len(s.at(addrA)) == 0 })
	s.SetLink(addrA, true)
	g, h := s.works()
	s.idle(c, d, g, h)
}
