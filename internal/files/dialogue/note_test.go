package dialogue

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// notes is one of each kind, at least.
func notes() []Note {
	return []Note{
		Ready{},
		Offer{Files: 3, Dirs: 1, Bytes: math.MaxUint64, Open: true},
		List{[]Entry{{Parent: Top, Name: "dir", Dir: true, Mode: 0o755, Time: -1}, {Parent: 0, Name: strings.Repeat("x", MaxName), Mode: 0o644, Time: math.MaxInt64, Size: 1 << 40}}},
		Accept{Window: 7, Key: [KeyBytes]byte{1, 2, 35: 3}},
		Data{N: 1 << 60, Length: PieceBytes, Last: true, Sums: []Sum{{1}, {2}}},
		Data{N: 1},
		Free{N: math.MaxUint64},
		Alive{},
		Finish{Bytes: 12},
		Done{Files: 1, Bytes: 2},
		Abort{Code: Failed, Text: "no space left"},
		Abort{Code: Interrupted},
	}
}

func TestNotes(t *testing.T) {
	for _, n := range notes() {
		b := n.AppendTo(nil)
		got, err := Parse(b)
		if err != nil {
			t.Errorf("%T: %v", n, err)
		} else if d := cmp.Diff(n, got); d != "" {
			t.Errorf("%T: %s", n, d)
		}
		for i := range b {
			if _, err := Parse(b[:i]); err == nil && i != 0 && !prefix(n, i) {
				t.Errorf("%T: %d of %d bytes are taken", n, i, len(b))
			}
		}
		if _, err := Parse(append(b, 0)); err == nil && !bytes.Contains([]byte{byte(kindAbort)}, b[:1]) {
			t.Errorf("%T: a byte too many is taken", n)
		}
	}
}

// prefix: notes whose end is that of the message are whole at some earlier places, too.
func prefix(n Note, i int) bool {
	switch n := n.(type) {
	case Abort:
		return i >= 2
	case Data:
		return (i-14)%len(Sum{}) == 0
	case List:
		return i == 1+n.Entries[0].bytes()
	}
	return false
}

func TestNotesThatAreNone(t *testing.T) {
	ready := Ready{}.AppendTo(nil)
	offer := Offer{Files: 1}.AppendTo(nil)
	other := append([]byte{}, ready...)
	other[len(magic)+1] = 9
	for name, b := range map[string][]byte{
		"nothing":            {},
		"too long":           make([]byte, MaxNote+1),
		"no such kind":       {200},
		"another language":   append([]byte{byte(kindReady)}, "GET / HTTP/1.1"...),
		"flag":               append(append([]byte{}, offer[:len(offer)-17]...), append([]byte{2}, make([]byte, 16)...)...),
		"empty list":         {byte(kindList)},
		"name beyond":        append(append([]byte{byte(kindList)}, make([]byte, entryBytes-1)...), 200, 'x'),
		"half a digest":      append(Data{}.AppendTo(nil), 1, 2, 3),
		"too many digests":   append(Data{}.AppendTo(nil), make([]byte, 32*(MaxExtents+1))...),
		"code":               {byte(kindAbort), 0},
		"another code":       {byte(kindAbort), byte(lastCode) + 1},
		"a reason too large": append([]byte{byte(kindAbort), 1}, make([]byte, MaxText+1)...),
	} {
		if n, err := Parse(b); !errors.Is(err, ErrNote) {
			t.Errorf("%s: %#v, %v", name, n, err)
		}
	}
	var v *VersionError
	if _, err := Parse(other); !errors.As(err, &v) || v.Theirs != 9 {
		t.Error(err)
	}
	long := Abort{Code: Failed, Text: strings.Repeat("x", 5000)}
	if n, err := Parse(long.AppendTo(nil)); err != nil || len(n.(Abort).Text) != MaxText {
		t.Error(n, err)
	}
}

// FuzzNote: what parses is written back byte for byte; nothing panics.
func FuzzNote(f *testing.F) {
	for _, n := range notes() {
		f.Add(n.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := Parse(b)
		if err != nil {
			if n != nil {
				t.Error("a note and an error")
			}
			return
		}
		if again := n.AppendTo(nil); !bytes.Equal(again, b) {
			t.Errorf("%x is written back as %x", b, again)
		}
	})
}

// FuzzReceiver: whatever a sender says, in whatever order, a receiver neither panics nor takes what is not in the list.
func FuzzReceiver(f *testing.F) {
	var all []byte
	say := func(n Note) {
		b := n.AppendTo(nil)
		all = append(append(all, byte(len(b)), byte(len(b)>>8)), b...)
	}
	say(Offer{Files: 2, Dirs: 1, Bytes: 10})
	say(List{[]Entry{{Parent: Top, Name: "d", Dir: true}, {Parent: 0, Name: "a", Size: 10}, {Parent: 0, Name: "b"}}})
	say(Data{N: 0, Length: 10, Sums: []Sum{{}}})
	say(Finish{Bytes: 10})
	f.Add(all)
	f.Fuzz(func(t *testing.T, b []byte) {
		in := NewIntake(Limits{Bytes: 1 << 30, Files: 1000})
		for len(b) > 2 {
			n := min(int(le.Uint16(b)), len(b)-2)
			note, err := Parse(b[2 : 2+n])
			b = b[2+n:]
			if err != nil {
				continue
			}
			s, err := in.Heard(note)
			if err != nil && in.State() != Aborted {
				t.Fatalf("%v, and it is %v", err, in.State())
			}
			follow(t, in, s)
		}
	})
}

// follow does what a step asks for, and checks it.
func follow(t *testing.T, in *Intake, s Step) {
	switch s.Do {
	case Check:
		for i := range in.List {
			if p := Path(in.List, i); strings.Contains("/"+p+"/", "/../") || strings.HasPrefix(p, "/") || strings.Contains(p, "\x00") {
				t.Fatalf("path %q", p)
			}
		}
		in.Accepted(4)
	case Take:
		n := 0
		for _, x := range s.Piece.Extents {
			if e := in.List[x.File]; e.Dir || !in.Offer.Open && x.Offset+uint64(x.Length) > e.Size {
				t.Fatalf("%+v of %+v", x, e)
			}
			n += x.Length
		}
		if n != s.Piece.Length || n > PieceBytes || len(s.Piece.Sums) != len(s.Piece.Extents) {
			t.Fatalf("%+v", s.Piece)
		}
		in.Written(s.Piece.N)
	case Place:
		if !in.Complete() {
			t.Fatal("the end, and something is not written")
		}
		in.Placed()
	case Nothing, Stop, Greet, Begin, Again, Ended:
	}
}

// FuzzSender: whatever a receiver says, in whatever order, a sender neither panics nor has more pieces under way than there are places, nor believes an end
// that can't be.
func FuzzSender(f *testing.F) {
	for _, script := range [][]Note{
		{Ready{}, Accept{Window: 2}, Free{N: 1}, Free{N: 0}, Free{N: 2}, Done{Files: 1, Bytes: 30}},
		{Ready{}, Accept{Window: 2}, Free{N: 1}, Free{N: 1}, Free{N: 1}},
		{Ready{}, Accept{Window: 2}, Free{N: 7}, Done{Files: 1, Bytes: 20}, Done{}},
	} {
		var all []byte
		for _, n := range script {
			b := n.AppendTo(nil)
			all = append(append(all, byte(len(b)), byte(len(b)>>8)), b...)
		}
		f.Add(all)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		const pieces = 3
		out, taken, freed := NewOutgo(Offer{Files: 1}), uint64(0), uint64(0)
		window := uint64(0)
		for len(b) > 2 {
			n := min(int(le.Uint16(b)), len(b)-2)
			note, err := Parse(b[2 : 2+n])
			b = b[2+n:]
			if err != nil {
				continue
			}
			s, err := out.Heard(note)
			if err != nil && out.State() != Aborted {
				t.Fatalf("%v, and it is %v", err, out.State())
			}
			switch s.Do {
			case Begin:
				window = uint64(s.Accept.Window)
			case Again:
				freed++
			case Ended:
				if d := note.(Done); freed != pieces || d.Bytes != 10*pieces {
					t.Fatalf("done with %d pieces of %d: %+v", freed, pieces, d)
				}
			case Nothing, Stop, Greet, Check, Take, Place:
			}
			for taken < pieces {
				if _, ok := out.Take(); !ok {
					break
				}
				out.Announced(10)
				taken++
			}
			if taken-freed > window || freed > taken {
				t.Fatalf("%d taken, %d free, of %d places", taken, freed, window)
			}
			if taken == pieces && out.State() == Sending {
				out.Finished()
			}
		}
	})
}

// TestLongReason: a reason that is cut is cut between characters.
func TestLongReason(t *testing.T) {
	n, err := Parse(Abort{Code: Failed, Text: "x" + strings.Repeat("é", MaxText)}.AppendTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	if text := n.(Abort).Text; !utf8.ValidString(text) || len(text) < MaxText-1 {
		t.Errorf("%d bytes, %q", len(text), text[len(text)-3:])
	}
}
