package tally_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/demo/tally"
)

// memory is words that are only a slice.
type memory []byte

func (m memory) Load64(offset uint64) uint64     { return binary.LittleEndian.Uint64(m[offset:]) }
func (m memory) Store64(offset uint64, v uint64) { binary.LittleEndian.PutUint64(m[offset:], v) }

// rig is a sender and a receiver with nothing but copies between them, where a test can spoil things.
type rig struct {
	ring   []byte
	words  memory
	board  *tally.Board
	order  *tally.Order
	issued tally.Totals
	window uint64
	sent   [][]byte // blocks as they were put, for putting them again
	data   bytes.Buffer
	landed int
}

func newRig() *rig {
	r := &rig{ring: make([]byte, tally.RingBytes), words: make(memory, tally.WordsBytes), order: tally.NewOrder()}
	r.board = tally.NewBoard(r.ring, r.words, func() { r.landed++ })
	return r
}

func (r *rig) putBlock(number uint64) {
	copy(tally.Slot(r.ring, tally.SlotOf(number)), r.sent[number-1])
}

func (r *rig) putWord(number uint64) {
	at := tally.WordOffset(tally.SlotOf(number))
	tally.SealWord(r.words[at:at+8], number)
}

// send puts a window of n blocks, and returns its announcement.
func (r *rig) send(n int) tally.Announcement {
	r.window++
	a := tally.Announcement{Window: r.window, First: r.issued.Blocks + 1}
	for range n {
		r.issued.Blocks++
		r.issued.Words++
		number := r.issued.Blocks
		b := make([]byte, tally.BlockHead+1+int(number%100))
		for i := range b {
			b[i] = byte(uint64(i) * number)
		}
		a.Sums = append(a.Sums, tally.SealBlock(b, number, len(b)-tally.BlockHead))
		r.sent = append(r.sent, b)
		r.data.Write(b[tally.BlockHead:])
		r.issued.Bytes += uint64(len(b) - tally.BlockHead)
		r.putBlock(number)
		r.putWord(number)
	}
	return a
}

// message hands a note over.
func (r *rig) message(number uint64) {
	p := tally.NotePayload(number)
	r.order.Message(tally.MessageHeader(number, tally.KindNote, p), p)
}

// run sends many windows around the ring, spoils what spoil says, and concludes. spoil is called with the window that is about
// to be checked, and its announcement.
func (r *rig) run(spoil func(window uint64, a *tally.Announcement)) tally.Counts {
	for range 3*tally.Windows + 5 {
		a := r.send(1 + int(r.window)%tally.WindowBlocks)
		r.issued.Messages++
		r.message(r.issued.Messages)
		spoil(a.Window, &a)
		r.board.Check(a)
		r.board.GiveBack(2)
	}
	spoil(0, nil)
	r.board.Sweep()
	r.board.GiveBack(0)
	return tally.Conclude(r.board, r.order, r.issued)
}

func TestNothingWrong(t *testing.T) {
	r := newRig()
	c := r.run(func(uint64, *tally.Announcement) {})
	if c.Lost != 0 || c.Doubled != 0 || len(c.Problems) != 0 || c.Blocks != r.issued.Blocks || c.Words != c.Blocks || c.Messages != r.issued.Messages {
		t.Fatalf("%+v, issued %+v", c, r.issued)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(r.data.Bytes())); r.board.Digest() != want {
		t.Errorf("digest %s, want %s", r.board.Digest(), want)
	}
	if r.landed == 0 {
		t.Errorf("nobody was told that words landed")
	}
}

// spoiled is something that goes wrong with one operation, and how it is to be counted.
type spoiled struct {
	name          string
	lost, doubled uint64
	problem       string
	spoil         func(r *rig, a *tally.Announcement)
}

// several are lost then, no matter how many.
const several = 99

var spoiledPuts = []spoiled{
	{"a block is lost", 1, 0, "is not there", func(r *rig, a *tally.Announcement) {
		clear(tally.Slot(r.ring, tally.SlotOf(a.First))[:8]) // as the check before left it
	}},
	{"a block is another", 1, 0, "content", func(r *rig, a *tally.Announcement) {
		tally.Slot(r.ring, tally.SlotOf(a.First+1))[tally.BlockHead]++
	}},
	{"a block is whole, and not the one that was sent", 1, 0, "content", func(r *rig, a *tally.Announcement) {
		tally.SealBlock(tally.Slot(r.ring, tally.SlotOf(a.First)), a.First, 1)
	}},
	{"a block's length is a lie", 1, 0, "content", func(r *rig, a *tally.Announcement) {
		binary.LittleEndian.PutUint32(tally.Slot(r.ring, tally.SlotOf(a.First))[8:], 1<<31)
	}},
	{"an old put lands on a new block", 1, 1, "landed there again", func(r *rig, a *tally.Announcement) {
		r.putBlock(a.First - tally.Slots)
	}},
	{"a put lands again before its slot is given back", 0, 1, "landed in its slot again", func(r *rig, a *tally.Announcement) {
		r.putBlock(a.First - 1)
	}},
	{"half of a put lands again", 0, 1, "landed in its slot again", func(r *rig, a *tally.Announcement) {
		tally.Slot(r.ring, tally.SlotOf(a.First-1))[tally.BlockHead]++
	}},
	{"a word is lost", 1, 0, "word", func(r *rig, a *tally.Announcement) {
		r.words.Store64(uint64(tally.WordOffset(tally.SlotOf(a.First))), 0)
	}},
	{"a word lands again", 0, 1, "landed again", func(r *rig, a *tally.Announcement) {
		r.board.Sweep()
		r.putWord(a.First)
	}},
	{"a word of the round before lands again", 0, 1, "landed again", func(r *rig, a *tally.Announcement) {
		r.board.Sweep()
		r.words.Store64(uint64(tally.WordOffset(tally.SlotOf(a.First))), a.First-tally.Slots)
	}},
	{"a word lands where it does not belong", 0, 0, "where", func(r *rig, a *tally.Announcement) {
		r.board.Sweep()
		r.words.Store64(uint64(tally.WordOffset(tally.SlotOf(a.First))), a.First+1)
	}},
	{"an announcement is of another window", several, several, "begins with block", func(r *rig, a *tally.Announcement) { a.First += 2 }},
	{"a block's checksum falls over", 1, 0, "content", func(r *rig, a *tally.Announcement) {
		tally.Slot(r.ring, tally.SlotOf(a.First))[12]++
	}},
}

var spoiledMessages = []spoiled{
	{"a message is lost", 1, 0, "came when", func(r *rig, _ *tally.Announcement) { r.issued.Messages++ }},
	{"a message comes twice", 0, 1, "came again", func(r *rig, _ *tally.Announcement) { r.message(r.issued.Messages) }},
	{"an old message comes again", 0, 1, "came again", func(r *rig, _ *tally.Announcement) { r.message(3) }},
	{"messages change places", 0, 0, "after later ones", func(r *rig, _ *tally.Announcement) {
		r.issued.Messages += 2
		r.message(r.issued.Messages)
		r.message(r.issued.Messages - 1)
	}},
	{"a message is another", 1, 0, "content", func(r *rig, _ *tally.Announcement) {
		r.issued.Messages++
		p := append(tally.NotePayload(r.issued.Messages), 1)
		r.order.Message(tally.MessageHeader(r.issued.Messages, tally.KindNote, p), p)
	}},
	{"a message's bits fall over", 1, 0, "content", func(r *rig, _ *tally.Announcement) {
		r.issued.Messages++
		h := tally.MessageHeader(r.issued.Messages, tally.KindNote, nil)
		h[0] ^= 64
		r.order.Message(h, nil)
	}},
	{"an announcement's bits fall over", 1, 0, "content", func(r *rig, a *tally.Announcement) {
		r.issued.Messages++
		h := tally.MessageHeader(r.issued.Messages, tally.KindAnnounce, a.Encode())
		a.Sums[0]++
		if _, ok := r.order.Message(h, a.Encode()); ok {
			r.order.Message(h, a.Encode())
		}
		a.Sums[0]--
	}},
}

// TestSpoiled: whatever goes wrong with one operation is seen, and counted as what it is.
func TestSpoiled(t *testing.T) {
	const at = 90 // the window in which it happens, in the second round of the ring
	for _, c := range append(slices.Clone(spoiledPuts), spoiledMessages...) {
		t.Run(c.name, func(t *testing.T) {
			r := newRig()
			got := r.run(func(w uint64, a *tally.Announcement) {
				if w == at {
					c.spoil(r, a)
				}
			})
			if !slices.ContainsFunc(got.Problems, func(s string) bool { return strings.Contains(s, c.problem) }) {
				t.Errorf("no problem says %q: %q", c.problem, got.Problems)
			}
			if c.lost != several && (got.Lost != c.lost || got.Doubled != c.doubled) {
				t.Errorf("lost %d, doubled %d, want %d, %d: %q", got.Lost, got.Doubled, c.lost, c.doubled, got.Problems)
			}
		})
	}
}

// TestLate: what lands after everything is over is seen as well.
func TestLate(t *testing.T) {
	for name, spoil := range map[string]func(r *rig){
		"word":  func(r *rig) { r.putWord(r.issued.Words) },
		"block": func(r *rig) { r.putBlock(r.issued.Blocks) },
	} {
		r := newRig()
		c := r.run(func(w uint64, _ *tally.Announcement) {
			if w == 0 {
				spoil(r)
			}
		})
		if c.Doubled != 1 || c.Lost != 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// TestProblemsAreBounded: all are counted, few are told.
func TestProblemsAreBounded(t *testing.T) {
	o := tally.NewOrder()
	for range 1000 {
		o.Message([]byte("nonsense"), nil)
	}
	if n := len(o.Problems); n == 0 || n > 100 {
		t.Errorf("%d problems are told", n)
	}
}
