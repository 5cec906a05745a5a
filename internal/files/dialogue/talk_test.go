package dialogue

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/golden"
	"pgregory.net/rapid"
)

// TestLives: every state with every event.
func TestLives(t *testing.T) {
	golden.Same(t, "testdata/lives.txt", "sender\n\n"+SenderLife.Matrix()+"\nreceiver\n\n"+ReceiverLife.Matrix())
}

func names(list []Entry) (out []string) {
	for i := range list {
		out = append(out, Path(list, i))
	}
	return out
}

func takes(list []Entry) error {
	var l Lister
	for i := range list {
		if err := l.Take(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func TestList(t *testing.T) {
	good := []Entry{
		{Parent: Top, Name: "a"},
		{Parent: Top, Name: "b", Dir: true},
		{Parent: 1, Name: "a", Dir: true},
		{Parent: 2, Name: "..."},
		{Parent: 1, Name: "b"},
		{Parent: Top, Name: "c", Dir: true},
		{Parent: Top, Name: "\xff\xfe not utf-8"},
	}
	if err := takes(good); err != nil {
		t.Error(err)
	}
	if got := strings.Join(names(good), " "); got != "a b b/a b/a/... b/b c \xff\xfe not utf-8" {
		t.Errorf("%q", got)
	}
	dir := Entry{Parent: Top, Name: "d", Dir: true}
	for name, list := range map[string][]Entry{
		"dot":              {{Parent: Top, Name: "."}},
		"dots":             {{Parent: Top, Name: ".."}},
		"no name":          {{Parent: Top}},
		"slash":            {{Parent: Top, Name: "a/b"}},
		"absolute":         {{Parent: Top, Name: "/etc"}},
		"zero":             {{Parent: Top, Name: "a\x00b"}},
		"long":             {{Parent: Top, Name: strings.Repeat("x", MaxName+1)}},
		"setuid":           {{Parent: Top, Name: "a", Mode: 0o4755}},
		"sticky":           {{Parent: Top, Name: "a", Dir: true, Mode: 0o1777}},
		"twice":            {{Parent: Top, Name: "a"}, {Parent: Top, Name: "a"}},
		"file and dir":     {{Parent: Top, Name: "a"}, {Parent: Top, Name: "a", Dir: true}},
		"twice in a dir":   {dir, {Parent: 0, Name: "a"}, {Parent: 0, Name: "a"}},
		"order":            {{Parent: Top, Name: "b"}, {Parent: Top, Name: "a"}},
		"in itself":        {{Parent: 0, Name: "a", Dir: true}},
		"in a file":        {{Parent: Top, Name: "a"}, {Parent: 0, Name: "b"}},
		"in what is done":  {dir, {Parent: Top, Name: "e"}, {Parent: 0, Name: "a"}},
		"in what comes":    {{Parent: 1, Name: "a"}, dir},
		"dir with a size":  {{Parent: Top, Name: "d", Dir: true, Size: 1}},
		"an enormous file": {{Parent: Top, Name: "d", Size: 1 << 63}},
	} {
		if err := takes(list); !errors.Is(err, ErrList) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBounds: as much as may be is taken, and one more is refused.
func TestBounds(t *testing.T) {
	nested := func(n int, name string) (list []Entry) {
		parent := Top
		for i := range n {
			list = append(list, Entry{Parent: parent, Name: name, Dir: true})
			parent = uint32(i)
		}
		return list
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		paths uint64 // of what came before
		list  []Entry
		more  Entry
	}{
		"depth": {0, nested(maxDepth, "d"), Entry{Parent: maxDepth - 1, Name: "d", Dir: true}},
		"path":  {0, append(nested(15, x(255)), Entry{Parent: 14, Name: x(100), Dir: true}, Entry{Parent: 15, Name: "w" + x(maxPath-15*256-102)}), Entry{Parent: 15, Name: x(maxPath - 15*256 - 100)}},
		"paths": {maxPaths - 12, []Entry{{Parent: Top, Name: "12345", Dir: true}, {Parent: 0, Name: "7"}}, Entry{Parent: 0, Name: "8"}},
	} {
		l := Lister{paths: c.paths}
		for i := range c.list {
			if err := l.Take(&c.list[i]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		var refused *RefusedError
		if err := l.Take(&c.more); !errors.As(err, &refused) {
			t.Errorf("%s, one more: %v", name, err)
		}
	}
	in := NewIntake(Limits{})
	if _, err := in.Heard(Offer{Files: 2}); err != nil {
		t.Fatal(err)
	}
	two := []Entry{{Parent: Top, Name: "a"}, {Parent: Top, Name: "b"}}
	in.listBytes = maxListBytes - two[0].bytes()
	if _, err := in.Heard(List{two[:1]}); err != nil {
		t.Errorf("names: %v", err)
	}
	var refused *RefusedError
	if _, err := in.Heard(List{two[1:]}); !errors.As(err, &refused) {
		t.Errorf("names, one more: %v", err)
	}
}

// draw is a list that can be.
func draw(t *rapid.T) (list []Entry, open bool) {
	sizes := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(0, 100_000), rapid.Uint64Range(PieceBytes-2, PieceBytes+2), rapid.Uint64Range(0, 5*PieceBytes))
	dir := Top
	for i := range rapid.IntRange(1, 400).Draw(t, "entries") {
		e := Entry{Parent: dir, Name: fmt.Sprintf("%05d", i)}
		if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
			e.Dir, dir = true, uint32(i)
		} else {
			e.Size = sizes.Draw(t, "size")
		}
		list = append(list, e)
	}
	if rapid.Bool().Draw(t, "open") {
		open = true
		list = append(list, Entry{Parent: Top, Name: "open"})
	}
	return list, open
}

// TestCutter: each byte of each file once, in order, and no piece too large.
func TestCutter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, open := draw(t)
		got := make([]uint64, len(list))
		end := uint64(rapid.IntRange(0, 3*PieceBytes).Draw(t, "end"))
		c := NewCutter(list, open)
		for {
			ext, ok := c.Next(nil)
			if !ok {
				break
			}
			n := 0
			for i, x := range ext {
				if open && x.File == len(list)-1 {
					if x.Length = int(min(end-x.Offset, PieceBytes)); x.Offset+uint64(x.Length) == end {
						c.End()
					}
				} else if x.End != (x.Offset+uint64(x.Length) == list[x.File].Size) || x.Whole != (x.Length == int(list[x.File].Size)) && x.Whole {
					t.Fatalf("%+v of %d", x, list[x.File].Size)
				}
				if x.Offset != got[x.File] || !x.Whole && (i > 0 || len(ext) > 1) {
					t.Fatalf("%+v after %d", x, got[x.File])
				}
				got[x.File] += uint64(x.Length)
				n += x.Length
			}
			if n > PieceBytes || len(ext) > MaxExtents {
				t.Fatalf("%d bytes in %d extents", n, len(ext))
			}
		}
		for i, e := range list {
			want := e.Size
			if open && i == len(list)-1 {
				want = end
			}
			if got[i] != want {
				t.Fatalf("file %d: %d bytes of %d", i, got[i], want)
			}
		}
	})
}

// TestParts: a list in notes is the same list.
func TestParts(t *testing.T) {
	var list []Entry
	for i := range 10_000 {
		list = append(list, Entry{Parent: Top, Name: fmt.Sprintf("%05d%s", i, strings.Repeat("x", i%250))})
	}
	var got []Entry
	for _, p := range Parts(list) {
		b := p.AppendTo(nil)
		n, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n.(List).Entries...)
	}
	if len(got) != len(list) || got[9999] != list[9999] {
		t.Errorf("%d of %d", len(got), len(list))
	}
}

// talk is two sides that keep to the rules.
type talk struct {
	*rapid.T
	list []Entry
	open bool
	end  uint64 // of the open file
	in   *Intake
	out  *Outgo
	cut  *Cutter

	put, written []Data // pieces that are not announced, and those that are not free
}

// hear has the receiver hear a note, answer the sender.
func (k *talk) hear(n Note) Step {
	s, err := k.in.Heard(n)
	if err != nil {
		k.Fatalf("%T: %v", n, err)
	}
	return s
}

func (k *talk) answer(n Note) Step {
	s, err := k.out.Heard(n)
	if err != nil {
		k.Fatalf("%T: %v", n, err)
	}
	return s
}

// take takes the next piece; false: there is none.
func (k *talk) take() bool {
	ext, ok := k.cut.Next(nil)
	if !ok {
		return false
	}
	d := Data{Sums: make([]Sum, len(ext))}
	d.N, _ = k.out.Take()
	for _, x := range ext {
		if k.open && x.File == len(k.list)-1 {
			x.Length = int(min(k.end-x.Offset, PieceBytes))
			if d.Last = x.Offset+uint64(x.Length) == k.end; d.Last {
				k.cut.End()
			}
		}
		d.Length += uint32(x.Length)
	}
	k.put = append(k.put, d)
	return true
}

// any takes one of some pieces out.
func (k *talk) any(of *[]Data) Data {
	i := rapid.IntRange(0, len(*of)-1).Draw(k.T, "which")
	d := (*of)[i]
	*of = append((*of)[:i], (*of)[i+1:]...)
	return d
}

// pieces sends all of them, in any order that the window allows.
func (k *talk) pieces() {
	for more := true; more || len(k.put)+len(k.written) > 0; {
		switch move := rapid.IntRange(0, 2).Draw(k.T, "move"); {
		case move == 0 && more && k.out.next < k.out.base+k.out.window:
			more = k.take()
		case move == 1 && len(k.put) > 0:
			d := k.any(&k.put)
			k.out.Announced(int(d.Length))
			if s := k.hear(d); s.Do != Take || s.Piece.Length != int(d.Length) {
				k.Fatalf("%+v: %+v", d, s)
			}
			k.written = append(k.written, d)
		case move == 2 && len(k.written) > 0:
			d := k.any(&k.written)
			k.in.Written(d.N)
			k.answer(Free{d.N})
		}
	}
}

// TestTalk: two sides that keep to the rules always come to an end, whichever pieces are faster than others.
func TestTalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, open := draw(t)
		offer := Totals(list, open)
		k := &talk{T: t, list: list, open: open, end: uint64(rapid.IntRange(0, 3*PieceBytes).Draw(t, "end")), in: NewIntake(Limits{}), out: NewOutgo(offer), cut: NewCutter(list, open)}
		w := rapid.IntRange(1, 8).Draw(t, "window")
		k.answer(Ready{})
		k.hear(offer)
		var s Step
		for _, p := range Parts(list) {
			s = k.hear(p)
		}
		if s.Do != Check {
			t.Fatal(s.Do)
		}
		k.in.Accepted(w)
		k.answer(Accept{Window: uint32(w)})
		k.pieces()
		if s := k.hear(k.out.Finished()); s.Do != Place || !k.in.Complete() {
			t.Fatal(s.Do, k.in.Complete())
		}
		if s := k.answer(k.in.Placed()); s.Do != Ended || k.out.State() != Over || k.in.State() != Over {
			t.Fatal(s.Do, k.out.State(), k.in.State())
		}
	})
}
