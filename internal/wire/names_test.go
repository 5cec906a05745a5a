package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

func TestPrefaceStrangers(t *testing.T) {
	ours := wire.Preface{Nonce: nonce}.AppendTo(nil)
	for _, b := range []string{"", "G", "GET / HTTP/1.1\r\n", "\x89PNG\r\n\x1a\n", "\x89BRAID\n\n" + string(ours[8:]), strings.Repeat("\x00", 64)} {
		if _, err := wire.DecodePreface([]byte(b)); !errors.Is(err, wire.ErrMagic) {
			t.Errorf("%q: %v", b, err)
		}
	}
	if _, err := wire.DecodePreface(ours[:5]); !errors.Is(err, wire.ErrFormat) {
		t.Errorf("the beginning of a Preface: %v", err)
	}
}

func TestPrefaceOtherMajor(t *testing.T) {
	// Of another major only the first 12 bytes are known: the rest may be anything, of any size.
	head := "\x89BRAID\r\n\x03\x00\x01\x02"
	for _, b := range []string{head, head + "?", head + strings.Repeat("?", 52), head + strings.Repeat("?", 900)} {
		_, err := wire.DecodePreface([]byte(b))
		var v *wire.VersionError
		if !errors.Is(err, wire.ErrVersion) || !errors.As(err, &v) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if v.Ours != (wire.Version{Major: 1}) || v.Theirs != (wire.Version{Major: 3, Minor: 0x201}) {
			t.Errorf("%+v", v)
		}
		if want := "wire: the peer speaks protocol 3.513, this side 1.0: upgrade this side"; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	_, err := wire.DecodePreface([]byte("\x89BRAID\r\n\x00\x00\x09\x00"))
	if !errors.Is(err, wire.ErrVersion) || !strings.HasSuffix(err.Error(), "upgrade the peer") {
		t.Error(err)
	}
}

func TestPrefaceOtherMinor(t *testing.T) {
	p := wire.Preface{Version: wire.Version{Major: 1, Minor: 7}, Nonce: nonce}
	if got, err := wire.DecodePreface(p.AppendTo(nil)); err != nil || got != p {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPrefaceFlags(t *testing.T) {
	b := wire.Preface{Flags: 0x80000002}.AppendTo(nil)
	_, err := wire.DecodePreface(b)
	var e *wire.UnsupportedError
	if !errors.As(err, &e) || e.Flags != 0x80000002 || !strings.Contains(err.Error(), "Preface requires flags 0x80000002") {
		t.Error(err)
	}
}

// An instance is read from its name, and from nothing else.
func TestParseInstance(t *testing.T) {
	for _, i := range []wire.Instance{{Opener: wire.Dialer, N: 1}, {Opener: wire.Acceptor, N: 7}, {Opener: wire.Dialer, N: 1<<64 - 1}} {
		if got, ok := wire.ParseInstance(i.String()); !ok || got != i {
			t.Errorf("%v: %v, %v", i, got, ok)
		}
	}
	for _, s := range []string{"", "d", "1", "d0", "d01", "d+1", "d-1", " d1", "d1 ", "D1", "b1", "?7", "d18446744073709551616", "lo->lo"} {
		if got, ok := wire.ParseInstance(s); ok {
			t.Errorf("%q is said to be %v", s, got)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{wire.Name(wire.IDPreface), "Preface"},
		{wire.Name(wire.IDClosed), "Closed"},
		{wire.Name(wire.IDAM), "AM"},
		{wire.Name(wire.IDRefused), "Refused"},
		{wire.Name(0), "frame(0)"},
		{wire.Name(15), "frame(15)"},
		{wire.Name(255), "frame(255)"},
		{wire.Instance{Opener: wire.Dialer, N: 1}.String(), "d1"},
		{wire.Instance{Opener: wire.Acceptor, N: 7}.String(), "a7"},
		{wire.Instance{Opener: 9, N: 7}.String(), "?7"},
		{wire.Dialer.Other().String(), "acceptor"},
		{wire.Acceptor.Other().String(), "dialer"},
		{wire.Side(5).String(), "side(5)"},
		{wire.ModeNone.String() + wire.ModePeer.String() + wire.ModeFailover.String(), "nonepeerfailover"},
		{wire.Mode(3).String(), "mode(3)"},
		{wire.RejectSecret.String(), "secret"},
		{wire.RejectCode(77).String(), "reject(77)"},
		{wire.RefusedBounds.String(), "out of bounds"},
		{wire.RefusedCode(77).String(), "refused(77)"},
		{wire.ChangeCompare.String(), "compare-and-swap"},
		{wire.Change(77).String(), "change(77)"},
		{wire.CloseGraceful.String() + wire.CloseAborted.String(), "gracefulaborted"},
		{wire.CloseCode(2).String(), "close(2)"},
		{wire.Rights(0).String(), "---"},
		{(wire.Read | wire.Atomic).String(), "r-a"},
		{wire.Rights(16).String(), "rights(0x10)"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		in, out string
	}{
		{"", ""},
		{"node 1", "node 1"},
		{"größe €", "größe €"},
		{"a\nb\x1b[31m\x00", "a?b?[31m?"},
		{"bad \xff\xc3", "bad ??"},
		{"real \ufffd", "real \ufffd"},
		{"left\u202eright", "left?right"},
		{strings.Repeat("x", 63) + "é", strings.Repeat("x", 63)},
		{strings.Repeat("x", 62) + "éa", strings.Repeat("x", 62) + "é"},
		{strings.Repeat("\n", 65), strings.Repeat("?", 64)},
	} {
		h := firstHello
		h.Name = c.in
		got, err := wire.DecodeHello(h.AppendTo(nil))
		if err != nil || got.Name != c.out {
			t.Errorf("%q came as %q, %v; want %q", c.in, got.Name, err, c.out)
		}
		if wire.ValidName(c.in) != (c.in == c.out) {
			t.Errorf("ValidName(%q) = %v", c.in, wire.ValidName(c.in))
		}
	}
}

// TestSecretsAreNotShown prints what holds a secret in each way that a log or a dump might.
func TestSecretsAreNotShown(t *testing.T) {
	const secret = wire.Secret(0x7172737475767778)
	forms := []string{"7172737475767778", "7877767574737271", "8174723217654970232", "b0b1b2", "B0B1B2", "b0, 0xb1", "b0 b1", "176 177", "176,177", "qrstuvwx"}
	for _, v := range []any{
		secret, key, joinHello, &firstAck, wire.Put{Secret: secret}, wire.AtomicOp{Secret: secret}, wire.RKey{Secret: secret},
	} {
		var s strings.Builder
		for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%X", "% x", "%#x", "%d", "%s", "%q", "%o"} {
			fmt.Fprintf(&s, verb+"\n", v)
		}
		j, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		s.Write(j)
		slog.New(slog.NewTextHandler(&s, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&s, nil)).Info("x", "v", v)
		for _, f := range forms {
			if strings.Contains(s.String(), f) {
				t.Errorf("%T shows its secret as %q", v, f)
			}
		}
		if !strings.Contains(s.String(), "set") {
			t.Errorf("%T does not say that its secret is set", v)
		}
	}
	if got := fmt.Sprint(wire.Secret(0), wire.JoinKey{}, wire.JoinProof{}); got != "unset unset unset" {
		t.Error(got)
	}
}

func TestHeaderTooLong(t *testing.T) {
	b := wire.AM{ID: 1, Header: make([]byte, wire.MaxHeader)}.AppendTo(nil)
	if h, err := wire.DecodeAM(b); err != nil || h.ID != 1 || len(h.Header) != wire.MaxHeader {
		t.Errorf("%d bytes, %v", len(h.Header), err)
	}
	for _, m := range []appender{wire.AM{Header: make([]byte, wire.MaxHeader+1)}, wire.AMFirst{Header: make([]byte, wire.MaxHeader+1)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T with too long a header did not panic", m)
				}
			}()
			m.AppendTo(nil)
		}()
	}
}

// TestHeaderIsCapped: an append to a decoded header must not write into the payload behind it.
func TestHeaderIsCapped(t *testing.T) {
	for _, m := range []appender{wire.AM{Header: []byte("h")}, wire.AMFirst{Header: []byte("h")}} {
		b := m.AppendTo(make([]byte, 0, 100))
		var header []byte
		if _, ok := m.(wire.AM); ok {
			h, _ := wire.DecodeAM(b)
			header = h.Header
		} else {
			h, _ := wire.DecodeAMFirst(b)
			header = h.Header
		}
		if string(header) != "h" || cap(header) != 1 {
			t.Errorf("%T: header %q with room for %d", m, header, cap(header))
		}
	}
}
