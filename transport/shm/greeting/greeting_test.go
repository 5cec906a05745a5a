package greeting_test

import (
	"errors"
	"testing"

	"github.com/openbraid/braid/transport/shm/cma"
	"github.com/openbraid/braid/transport/shm/greeting"
	"github.com/openbraid/braid/transport/shm/ring"
)

var mark = cma.Mark{Addr: 0xc000123450, Bytes: [cma.MarkLen]byte{1, 2, 15: 3}}

// TestThereAndBack: what one side says the other one reads.
func TestThereAndBack(t *testing.T) {
	o := greeting.Offer{Shape: ring.Shape{Slots: 64, Data: 128 << 10}, Number: 7, Mark: mark}
	if got, c := greeting.ParseOffer(o.Bytes()); got != o || c != greeting.Welcome {
		t.Errorf("%+v, %v", got, c)
	}
	a := greeting.Answer{Code: greeting.NoRoom, Mark: mark}
	if got, ok := greeting.ParseAnswer(a.Bytes()); got != a || !ok || !errors.Is(got.Code.Err(), greeting.ErrRefused) {
		t.Errorf("%+v, %v", got, ok)
	}
	if len(o.Bytes()) > greeting.Most || len(a.Bytes()) > greeting.Most {
		t.Error("longer than the longest")
	}
}

// TestOthers: another version is named as such, and anything else is refused.
func TestOthers(t *testing.T) {
	o := greeting.Offer{Shape: ring.Shape{Slots: 64, Data: 128 << 10}}.Bytes()
	a := greeting.Answer{}.Bytes()
	for n := range len(o) {
		if _, c := greeting.ParseOffer(o[:n]); c != greeting.BadOffer {
			t.Errorf("%d bytes of an offer: %v", n, c)
		}
	}
	for n := range len(a) {
		if _, ok := greeting.ParseAnswer(a[:n]); ok {
			t.Errorf("%d bytes of an answer", n)
		}
	}
	o[8]++
	a[8]++
	if _, c := greeting.ParseOffer(o[:24]); c != greeting.OtherVersion {
		t.Errorf("an older offer: %v", c)
	}
	if got, ok := greeting.ParseAnswer(a[:16]); !ok || !errors.Is(got.Code.Err(), greeting.ErrVersion) {
		t.Errorf("an older answer: %v, %v", got, ok)
	}
	o[8]--
	o[12] = 63
	if _, c := greeting.ParseOffer(o); c != greeting.BadOffer {
		t.Errorf("63 slots: %v", c)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(greeting.Offer{Shape: ring.Shape{Slots: 64, Data: 128 << 10}, Mark: mark}.Bytes())
	f.Add(greeting.Answer{Code: greeting.BadOffer}.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, c := greeting.ParseOffer(b); c == greeting.Welcome && string(o.Bytes()) != string(b) {
			t.Errorf("%q is read as %+v", b, o)
		}
		if a, ok := greeting.ParseAnswer(b); ok && a.Code != greeting.OtherVersion && string(a.Bytes()) != string(b) {
			t.Errorf("%q is read as %+v", b, a)
		}
		_ = greeting.Code(len(b)).Err()
	})
}
