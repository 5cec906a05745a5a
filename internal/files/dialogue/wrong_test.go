package dialogue

import (
	"errors"
	"testing"
)

var (
	oneFile   = Offer{Files: 1, Bytes: 3 * PieceBytes}
	oneList   = List{[]Entry{{Parent: Top, Name: "a", Size: 3 * PieceBytes}}}
	openOffer = Offer{Files: 1, Open: true}
	openList  = List{[]Entry{{Parent: Top, Name: "a"}}}
)

func data(n uint64, length int) Data {
	return Data{N: n, Length: uint32(length), Sums: []Sum{{}}}
}

// written is not a note: the receiver has written so many pieces.
type written struct {
	Note
	n uint64
}

var (
	last = Data{Length: 5, Last: true, Sums: make([]Sum, 1)}
	two  = Data{Length: PieceBytes, Sums: make([]Sum, 2)}
)

// wrong are dialogues that are right but for their last note.
var wrong = map[string]struct {
	say     []Note
	refused bool
}{
	"nothing":                 {say: []Note{Offer{}}},
	"an open file and none":   {say: []Note{Offer{Dirs: 1, Open: true}}},
	"two offers":              {say: []Note{oneFile, oneFile}},
	"a list first":            {say: []Note{oneList}},
	"a longer list":           {say: []Note{oneFile, List{append(oneList.Entries, Entry{Parent: Top, Name: "b"})}}},
	"more bytes":              {say: []Note{Offer{Files: 1, Bytes: 5}, oneList}},
	"fewer bytes":             {say: []Note{Offer{Files: 1, Bytes: 5}, List{[]Entry{{Parent: Top, Name: "a", Size: 4}}}}},
	"a dir, not a file":       {say: []Note{Offer{Files: 1}, List{[]Entry{{Parent: Top, Name: "a", Dir: true}}}}},
	"an open dir":             {say: []Note{Offer{Files: 1, Dirs: 1, Open: true}, List{[]Entry{{Parent: Top, Name: "a"}, {Parent: Top, Name: "b", Dir: true}}}}},
	"a list again":            {say: []Note{oneFile, oneList, oneList}},
	"a piece before the list": {say: []Note{oneFile, data(0, PieceBytes)}},
	"beyond the window":       {say: []Note{oneFile, oneList, data(2, PieceBytes)}},
	"far beyond":              {say: []Note{oneFile, oneList, data(1<<63, PieceBytes)}},
	"twice":                   {say: []Note{oneFile, oneList, data(1, PieceBytes), data(1, PieceBytes)}},
	"again after it":          {say: []Note{oneFile, oneList, data(0, PieceBytes), written{n: 0}, data(0, PieceBytes)}},
	"behind the end":          {say: []Note{oneFile, oneList, data(0, PieceBytes), data(1, PieceBytes), written{n: 0}, written{n: 1}, data(3, PieceBytes)}},
	"short":                   {say: []Note{oneFile, oneList, data(0, PieceBytes-1)}},
	"long":                    {say: []Note{oneFile, oneList, data(0, 1<<31)}},
	"digests":                 {say: []Note{oneFile, oneList, two}},
	"an end that isn't open":  {say: []Note{oneFile, oneList, last}},
	"finished too early":      {say: []Note{oneFile, oneList, data(0, PieceBytes), Finish{PieceBytes}}},
	"finished with a gap":     {say: []Note{oneFile, oneList, data(1, PieceBytes), written{n: 1}, Finish{PieceBytes}}},
	"finished without one":    {say: []Note{oneFile, oneList, data(0, PieceBytes), written{n: 0}, data(2, PieceBytes), Finish{2 * PieceBytes}}},
	"finished before":         {say: []Note{oneFile, Finish{}}},
	"open and not ended":      {say: []Note{openOffer, openList, data(0, PieceBytes), Finish{PieceBytes}}},
	"open, behind the end":    {say: []Note{openOffer, openList, last, data(1, PieceBytes)}},
	"open, the end too early": {say: []Note{openOffer, openList, data(1, PieceBytes), last}},
	"other sums":              {say: []Note{openOffer, openList, last, Finish{6}}},
	"the receiver's":          {say: []Note{oneFile, Accept{Window: 1}}},
	"ready":                   {say: []Note{Ready{}}},
	"too many bytes":          {refused: true, say: []Note{Offer{Files: 1, Bytes: 5*PieceBytes + 1}}},
	"too many files":          {refused: true, say: []Note{Offer{Files: 2, Dirs: 2}}},
	"enormous":                {refused: true, say: []Note{Offer{Files: 1<<32 - 1, Dirs: 1<<32 - 1, Bytes: 1<<64 - 1}}},
	"open without end": {refused: true, say: []Note{openOffer, openList, data(0, PieceBytes), written{n: 0}, data(1, PieceBytes), written{n: 1},
		data(2, PieceBytes), written{n: 2}, data(3, PieceBytes), written{n: 3}, data(4, PieceBytes), written{n: 4}, data(5, PieceBytes)}},
}

// TestReceiverIsStrict: what a sender may not say.
func TestReceiverIsStrict(t *testing.T) {
	for name, c := range wrong {
		in := NewIntake(Limits{Bytes: 5 * PieceBytes, Files: 3})
		for i, n := range c.say {
			if w, ok := n.(written); ok {
				in.Written(w.n)
				continue
			}
			s, err := in.Heard(n)
			if s.Do == Check {
				in.Accepted(2)
			}
			if i < len(c.say)-1 {
				if err != nil {
					t.Errorf("%s: %T already: %v", name, n, err)
				}
				continue
			}
			var refused *RefusedError
			if err == nil || in.State() != Aborted || errors.As(err, &refused) != c.refused {
				t.Errorf("%s: %v, %v", name, err, in.State())
			}
			if code := CodeOf(err); (code == Refused) != c.refused || !c.refused && code != Violated {
				t.Errorf("%s: %v is told as %v", name, err, code)
			}
			if s, err := in.Heard(oneFile); s.Do != Nothing || err != nil {
				t.Errorf("%s: after its end: %v %v", name, s.Do, err)
			}
		}
	}
}

// TestSenderIsStrict: what a receiver may not say.
func TestSenderIsStrict(t *testing.T) {
	accept := Accept{Window: 4}
	for name, say := range map[string][]Note{
		"no room":         {Ready{}, Accept{}},
		"a huge window":   {Ready{}, Accept{Window: Window + 1}},
		"accepted twice":  {Ready{}, accept, accept},
		"not greeted":     {accept},
		"ready twice":     {Ready{}, Ready{}},
		"free before":     {Ready{}, Free{0}},
		"free what isn't": {Ready{}, accept, Free{2}},
		"free far away":   {Ready{}, accept, Free{1 << 63}},
		"free twice":      {Ready{}, accept, Free{1}, Free{1}},
		"free again":      {Ready{}, accept, Free{0}, Free{0}},
		"done too early":  {Ready{}, accept, Done{Files: 1, Bytes: 20}},
		"done before":     {Ready{}, Done{Files: 1}},
		"the sender's":    {Ready{}, oneFile},
	} {
		o := NewOutgo(oneFile)
		for i, n := range say {
			s, err := o.Heard(n)
			if s.Do == Begin {
				o.Take()
				o.Take()
				o.Announced(20)
			}
			if last := i == len(say)-1; last != (err != nil) {
				t.Errorf("%s: %T: %v", name, n, err)
			} else if last && o.State() != Aborted {
				t.Errorf("%s: %v", name, o.State())
			}
		}
	}
}

// TestDoneBeforeFree: who says that all is done has given back each place, or was not done.
func TestDoneBeforeFree(t *testing.T) {
	for _, free := range []bool{false, true} {
		o := NewOutgo(oneFile)
		for _, n := range []Note{Ready{}, Accept{Window: 4}} {
			if _, err := o.Heard(n); err != nil {
				t.Fatal(err)
			}
		}
		o.Take()
		o.Take()
		o.Announced(20)
		o.Finished()
		if _, err := o.Heard(Free{1}); err != nil {
			t.Fatal(err)
		}
		if free {
			if _, err := o.Heard(Free{0}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := o.Heard(Done{Files: 1, Bytes: 20}); (err == nil) != free || (o.State() == Over) != free {
			t.Errorf("free %v: %v, %v", free, err, o.State())
		}
	}
}

// TestAborts: either side's abort ends the other.
func TestAborts(t *testing.T) {
	a := Abort{Code: Failed, Text: "why"}
	in, out := NewIntake(Limits{}), NewOutgo(oneFile)
	if s, err := in.Heard(a); err != nil || s.Do != Stop || s.Abort != a || in.State() != Aborted {
		t.Error(s, err)
	}
	if s, err := out.Heard(a); err != nil || s.Do != Stop || s.Abort != a || out.State() != Aborted {
		t.Error(s, err)
	}
	if _, ok := out.Take(); ok {
		t.Error("a place after the end")
	}
}
