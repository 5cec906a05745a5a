package files

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
)

// idNote is the id of the messages that carry notes.
const idNote = 1

// How long things may take.
const (
	aliveEvery = 5 * time.Second        // between two notes that say nothing else
	helloTime  = 10 * time.Second       // until the other side has said its first note
	listTime   = 5 * time.Minute        // until a list is complete
	lastWords  = 2 * time.Second        // for the other side to hear why it ends
	agreeTime  = 10 * time.Second       // for the other side to leave when all is done
	moreQuiet  = 6 * aliveEvery         // beyond Times.Suspended: then nobody is there
	lookEvery  = 500 * time.Millisecond // at the clock
)

// peer is the other side of a transfer.
type peer struct {
	ep    *braid.Endpoint
	heard atomic.Int64 // when it last said something, nanoseconds since epoch
	quiet time.Duration
}

var epoch = time.Now()

func newPeer(n *braid.Node) *peer {
	p := &peer{quiet: moreQuiet + n.Options().Times.Suspended}
	p.hears()
	return p
}

func (p *peer) hears() { p.heard.Store(int64(time.Since(epoch))) }

// say sends a note.
func (p *peer) say(ctx context.Context, n dialogue.Note) error {
	return p.ep.SendAM(ctx, idNote, nil, n.AppendTo(nil))
}

// SilentError: the peer has said nothing for too long, although its endpoint is there.
type SilentError struct{ For time.Duration }

func (e *SilentError) Error() string {
	return fmt.Sprintf("the other side has said nothing for %v: it hangs, or is stopped", e.For.Round(time.Second))
}

// LostError: no lane was left, for too long.
type LostError struct{ Err error }

func (e *LostError) Error() string { return "the connection was lost: " + e.Err.Error() }

// Unwrap is for package errors.
func (e *LostError) Unwrap() error { return e.Err }

// keep says now and then that this side is alive, and ends the transfer if the other one isn't.
func (p *peer) keep(ctx context.Context, end context.CancelCauseFunc) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	said := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-t.C:
			if silence := now.Sub(epoch) - time.Duration(p.heard.Load()); silence > p.quiet {
				end(&SilentError{silence})
				return
			}
			if now.Sub(said) >= aliveEvery {
				p.ep.PostAM(idNote, nil, dialogue.Alive{}.AppendTo(nil)).Release()
				said = now
			}
		}
	}
}

// leave tells the other side why it ends, gives it time to hear that, and ends the endpoint. gone is closed when the endpoint has failed.
func (p *peer) leave(why error, gone <-chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	var told *PeerError
	if !errors.As(why, &told) { // it knows already
		n := dialogue.Abort{Code: codeOf(why), Text: why.Error()}
		if p.say(ctx, n) == nil && p.ep.Flush(ctx) == nil {
			select {
			case <-gone: // it heard, and left
			case <-ctx.Done():
			}
		}
	}
	_ = p.ep.Close(ctx)
}

// ErrInterrupted: who runs this side has ended it.
var ErrInterrupted = errors.New("interrupted")

func codeOf(err error) dialogue.Code {
	var busy *busyError
	var partly *PartlyError
	switch {
	case errors.As(err, &partly): // what stays there must be said, whatever the reason
		return dialogue.Failed
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		return dialogue.Interrupted
	case errors.As(err, &busy):
		return dialogue.Busy
	}
	return dialogue.CodeOf(err)
}

// PeerError: the other side has ended it, and said why.
type PeerError struct {
	Who  string // "receiver", "sender"
	Code dialogue.Code
	Text string
}

func (e *PeerError) Error() string {
	switch e.Code {
	case dialogue.Interrupted:
		return "the " + e.Who + " was stopped"
	case dialogue.Refused, dialogue.Busy:
		return "the " + e.Who + " refuses: " + e.Text
	case dialogue.Failed, dialogue.Violated:
	}
	return "the " + e.Who + " gave up: " + e.Text
}

// told is the error of an Abort.
func told(who string, a dialogue.Abort) error {
	return &PeerError{Who: who, Code: a.Code, Text: Printable(a.Text)}
}

// Printable is text from elsewhere, fit for a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
