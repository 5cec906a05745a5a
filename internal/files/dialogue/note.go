package dialogue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Version is of the notes. Sides of different versions don't talk.
const Version = 1

// Bounds of what a note may hold.
const (
	MaxNote    = 64 << 10 // bytes
	MaxName    = 255      // bytes of one component of a path
	MaxExtents = 256      // parts of files in a piece
	MaxText    = 1024     // bytes of a reason
	KeyBytes   = 36       // of a packed key
	// Window is the most pieces, PieceBytes the bytes of one. Their product is what a transfer costs in memory, on each side.
	Window     = 64
	PieceBytes = 1 << 20
)

// magic begins the first note of either side, so that what speaks another language is told apart.
const magic = "braidfil"

// Sum is a SHA-256.
type Sum = [32]byte

// kind is the first byte of a note.
type kind uint8

const (
	kindReady kind = 1 + iota
	kindOffer
	kindList
	kindAccept
	kindData
	kindFree
	kindAlive
	kindFinish
	kindDone
	kindAbort
)

// Note is one of the types below.
type Note interface {
	// AppendTo appends the bytes of the note.
	AppendTo(b []byte) []byte
}

// Ready says that a receiver is there, and which version it speaks. Its first note.
type Ready struct{}

// Offer says how much there is to send. A sender's first note.
type Offer struct {
	Files, Dirs uint32
	Bytes       uint64 // of the files whose size is known
	Open        bool   // the last file's size is not: it ends when it ends
}

// List is a part of the list of what is sent.
type List struct{ Entries []Entry }

// Entry is a file or a directory.
type Entry struct {
	Parent uint32 // index of the directory that it is in; Top: none
	Name   string // one component
	Dir    bool
	Mode   uint16 // permissions, 0o777 at most
	Time   int64  // of the last change, nanoseconds since 1970
	Size   uint64 // bytes of a file; 0 of a directory, and of a file that is open
}

// Top is the parent of what is in no directory.
const Top = ^uint32(0)

// Accept says where to put pieces. It answers a complete list.
type Accept struct {
	Window uint32 // pieces that fit
	Key    [KeyBytes]byte
}

// Data says that a piece is in its place.
type Data struct {
	N      uint64
	Length uint32 // bytes
	Last   bool   // of a file that is open: it ends here
	Sums   []Sum  // of the parts of files in it, in order
}

// Free says that a piece is written, and its place may be used again.
type Free struct{ N uint64 }

// Alive says nothing else.
type Alive struct{}

// Finish says that all pieces were announced. Bytes is the sum.
type Finish struct{ Bytes uint64 }

// Done says that everything has its name.
type Done struct {
	Files uint32
	Bytes uint64
}

// Abort ends it.
type Abort struct {
	Code Code
	Text string // for people: what and why
}

// Code is why it was ended.
type Code uint8

const (
	Interrupted Code = 1 + iota // by who runs that side
	Refused                     // it may not be sent there as it is
	Busy                        // not now
	Failed                      // it can't be done
	Violated                    // the other side said what can't be
	lastCode    = Violated
)

func (c Code) String() string {
	if c < Interrupted || c > lastCode {
		return "code(?)"
	}
	return [...]string{"interrupted", "refused", "busy", "failed", "violated"}[c-1]
}

var le = binary.LittleEndian

func appendHello(b []byte, k kind) []byte {
	return le.AppendUint16(append(append(b, byte(k)), magic...), Version)
}

// AppendTo implements Note.
func (n Ready) AppendTo(b []byte) []byte { return appendHello(b, kindReady) }

// AppendTo implements Note.
func (n Offer) AppendTo(b []byte) []byte {
	b = append(appendHello(b, kindOffer), flag(n.Open))
	b = le.AppendUint32(le.AppendUint32(b, n.Files), n.Dirs)
	return le.AppendUint64(b, n.Bytes)
}

// AppendTo implements Note.
func (n List) AppendTo(b []byte) []byte {
	b = append(b, byte(kindList))
	for i := range n.Entries {
		b = n.Entries[i].appendTo(b)
	}
	return b
}

// entryBytes are of an entry, without its name.
const entryBytes = 1 + 4 + 2 + 8 + 8 + 1

func (e *Entry) bytes() int { return entryBytes + len(e.Name) }

func (e *Entry) appendTo(b []byte) []byte {
	b = le.AppendUint32(append(b, flag(e.Dir)), e.Parent)
	b = le.AppendUint64(le.AppendUint16(b, e.Mode), uint64(e.Time))
	b = append(le.AppendUint64(b, e.Size), byte(len(e.Name)))
	return append(b, e.Name...)
}

// AppendTo implements Note.
func (n Accept) AppendTo(b []byte) []byte {
	return append(le.AppendUint32(append(b, byte(kindAccept)), n.Window), n.Key[:]...)
}

// AppendTo implements Note.
func (n Data) AppendTo(b []byte) []byte {
	b = le.AppendUint64(append(b, byte(kindData)), n.N)
	b = append(le.AppendUint32(b, n.Length), flag(n.Last))
	for i := range n.Sums {
		b = append(b, n.Sums[i][:]...)
	}
	return b
}

// AppendTo implements Note.
func (n Free) AppendTo(b []byte) []byte { return le.AppendUint64(append(b, byte(kindFree)), n.N) }

// AppendTo implements Note.
func (n Alive) AppendTo(b []byte) []byte { return append(b, byte(kindAlive)) }

// AppendTo implements Note.
func (n Finish) AppendTo(b []byte) []byte {
	return le.AppendUint64(append(b, byte(kindFinish)), n.Bytes)
}

// AppendTo implements Note.
func (n Done) AppendTo(b []byte) []byte {
	return le.AppendUint64(le.AppendUint32(append(b, byte(kindDone)), n.Files), n.Bytes)
}

// AppendTo implements Note. A text that is too long is cut.
func (n Abort) AppendTo(b []byte) []byte {
	end := min(len(n.Text), MaxText)
	for end < len(n.Text) && end > 0 && !utf8.RuneStart(n.Text[end]) {
		end-- // not within a character
	}
	return append(append(b, byte(kindAbort), byte(n.Code)), n.Text[:end]...)
}

func flag(v bool) byte {
	if v {
		return 1
	}
	return 0
}

// ErrNote: bytes that are no note.
var ErrNote = errors.New("not a note of this protocol")

// VersionError: the other side speaks another version.
type VersionError struct{ Theirs uint16 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the other side speaks version %d of the file protocol, this one %d: use the same release of braid on both", e.Theirs, Version)
}

// Parse reads a note. It says what the bytes are, not whether they make sense now.
func Parse(b []byte) (Note, error) {
	if len(b) == 0 || len(b) > MaxNote {
		return nil, fmt.Errorf("%w: %d bytes", ErrNote, len(b))
	}
	r := &reader{b: b[1:]}
	k := kind(b[0])
	n := r.note(k)
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes too many", len(r.b))
	}
	if r.err != nil {
		return nil, fmt.Errorf("kind %d: %w", k, r.err)
	}
	return n, nil
}

// reader takes bytes from the front. After an error it gives zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrNote, fmt.Sprintf(format, args...))
	}
	r.b = nil
}

var zeros [KeyBytes]byte

// take is the next n bytes, at most KeyBytes.
func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.fail("it ends too early")
		return zeros[:n]
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8() uint8   { return r.take(1)[0] }
func (r *reader) u16() uint16 { return le.Uint16(r.take(2)) }
func (r *reader) u32() uint32 { return le.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return le.Uint64(r.take(8)) }

func (r *reader) flag() bool {
	v := r.u8()
	if v > 1 {
		r.fail("flag %d", v)
	}
	return v == 1
}

func (r *reader) note(k kind) Note {
	switch k {
	case kindReady:
		r.hello()
		return Ready{}
	case kindOffer:
		r.hello()
		return Offer{Open: r.flag(), Files: r.u32(), Dirs: r.u32(), Bytes: r.u64()}
	case kindList:
		return r.list()
	case kindAccept:
		return Accept{Window: r.u32(), Key: [KeyBytes]byte(r.take(KeyBytes))}
	case kindData:
		return r.data()
	case kindFree:
		return Free{N: r.u64()}
	case kindAlive:
		return Alive{}
	case kindFinish:
		return Finish{Bytes: r.u64()}
	case kindDone:
		return Done{Files: r.u32(), Bytes: r.u64()}
	case kindAbort:
		return r.abort()
	}
	r.fail("no such kind")
	return nil
}

func (r *reader) hello() {
	if string(r.take(len(magic))) != magic {
		r.fail("it speaks of something else than files")
	}
	if v := r.u16(); r.err == nil && v != Version {
		r.err = &VersionError{v}
	}
}

func (r *reader) list() Note {
	n := List{Entries: make([]Entry, 0, len(r.b)/(entryBytes+1))}
	for len(r.b) > 0 {
		e := Entry{Dir: r.flag(), Parent: r.u32(), Mode: r.u16(), Time: int64(r.u64()), Size: r.u64()}
		size := int(r.u8())
		if size > len(r.b) {
			r.fail("a name ends too early")
		} else {
			e.Name, r.b = string(r.b[:size]), r.b[size:]
		}
		n.Entries = append(n.Entries, e)
	}
	if len(n.Entries) == 0 {
		r.fail("an empty part of a list")
	}
	return n
}

func (r *reader) data() Note {
	n := Data{N: r.u64(), Length: r.u32(), Last: r.flag()}
	if len(r.b)%len(Sum{}) != 0 || len(r.b)/len(Sum{}) > MaxExtents {
		r.fail("%d bytes of digests", len(r.b))
	}
	for len(r.b) > 0 {
		n.Sums = append(n.Sums, Sum(r.take(len(Sum{}))))
	}
	return n
}

func (r *reader) abort() Note {
	n := Abort{Code: Code(r.u8())}
	if n.Code < Interrupted || n.Code > lastCode {
		r.fail("code %d", n.Code)
	}
	if len(r.b) > MaxText {
		r.fail("a reason of %d bytes", len(r.b))
	}
	n.Text, r.b = string(r.b), nil
	return n
}
