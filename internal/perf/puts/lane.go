package puts

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/ledger"
	"github.com/openbraid/braid/internal/perf/pattern"
)

// Spot is where a put goes whose end is polled: in an aligned word.
//
//	room:  | offset | payload ... its last word, the counter |       or, with a signal, | payload ... | counter |
type Spot struct {
	Room    int    // bytes of memory
	Offset  uint64 // of the payload
	Counter uint64 // of the word at its end
	size    int
	signals bool
}

// SpotOf is that of puts of so many bytes, whose last word counts them, or with signals that do.
func SpotOf(size int, signals bool) Spot {
	words := (size + pattern.WordLen - 1) / pattern.WordLen * pattern.WordLen
	if signals {
		return Spot{Room: words + pattern.WordLen, Counter: uint64(words), size: size, signals: true}
	}
	room := max(pattern.WordLen, words)
	return Spot{Room: room, Offset: uint64(room - size), Counter: uint64(room - pattern.WordLen), size: size}
}

// Fill makes the payload of put number seq, of the server or the client.
func (s *Spot) Fill(body []byte, seq uint64, verify, server bool) {
	if verify {
		pattern.Fill(body, pattern.Base(seq, server))
	}
	if !s.signals {
		binary.LittleEndian.PutUint64(body[len(body)-pattern.WordLen:], seq+1)
	}
}

func (s *Spot) signal(key braid.RKey) braid.Signal {
	return braid.Signal{Key: key, Offset: s.Counter, Value: 1, Add: true}
}

// Send puts a payload, and waits until it is its user's again. Post doesn't wait.
func (s *Spot) Send(ctx context.Context, ep *braid.Endpoint, body []byte, key braid.RKey) error {
	if s.signals {
		return ep.PutSignal(ctx, body, key, s.Offset, s.signal(key))
	}
	return ep.Put(ctx, body, key, s.Offset)
}

func (s *Spot) Post(ep *braid.Endpoint, body []byte, key braid.RKey) braid.Request {
	if s.signals {
		return ep.PostPutSignal(body, key, s.Offset, s.signal(key))
	}
	return ep.PostPut(body, key, s.Offset)
}

// Lane is where the puts of the other side come, one after the other.
type Lane struct {
	Spot
	Mem    *braid.Memory
	Ledger *ledger.Ledger // nil: nobody looks
	more   uint64         // signals that came more often than once
}

// Came says whether put number seq is there, the next one.
func (l *Lane) Came(seq uint64) bool {
	if n := l.Mem.Load64(l.Counter); l.signals {
		return n >= seq+1+l.more
	} else {
		return n == seq+1
	}
}

// Look looks at put number seq, which came, and notes it. server says whose it is.
func (l *Lane) Look(seq uint64, w *braid.Worker, server bool) {
	if l.Ledger == nil {
		return
	}
	got, want := l.Mem.Bytes()[l.Offset:l.Counter], pattern.Base(seq, server)
	if l.signals {
		l.Rest(seq + 1)
		if got = got[:l.size]; !pattern.Filled(got, want) {
			l.Ledger.Corrupt++
		}
	} else {
		l.landed(got, want, w)
	}
	l.Ledger.Note(seq)
}

// Rest counts the signals that came more often, after so many puts.
func (l *Lane) Rest(puts uint64) {
	if n := l.Mem.Load64(l.Counter); l.signals && l.Ledger != nil && n > puts+l.more {
		l.Ledger.Doubled += n - puts - l.more
		l.more = n - puts
	}
}

// landed checks a put whose counter was seen. The pieces of a large one come in any order, so the rest gets some time.
func (l *Lane) landed(got []byte, want uint64, w *braid.Worker) {
	var begun time.Time
	for !pattern.Filled(got, want) {
		if begun.IsZero() {
			begun = time.Now()
		} else if time.Since(begun) > time.Second {
			l.Ledger.Corrupt++
			return
		}
		w.Progress()
	}
}
