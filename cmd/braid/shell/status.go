package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Exit statuses.
const (
	Done        = 0
	Failed      = 1
	BadUsage    = 2
	Interrupted = 128 + int(syscall.SIGINT)
	Unread      = 128 + int(syscall.SIGPIPE) // nobody has read the result to its end
)

// Statuses are those of every sub-command, for people.
var Statuses = [][2]string{
	{"0", "What was asked for was done."},
	{"1", "Something failed, or a promise was broken."},
	{"2", "The command line, or a setting, can't be."},
	{"130", "Interrupted: by SIGINT, SIGTERM or SIGHUP, or since nobody reads what is printed any more."},
	{"141", "Nobody read the result to its end."},
}

var (
	// ErrInterrupted is why a command ends that somebody stops. What it had begun it clears away.
	ErrInterrupted = errors.New("interrupted")
	// ErrUnread says that who read what the command prints has gone, as head does when it has enough.
	ErrUnread = fmt.Errorf("%w: nobody reads what is printed", ErrInterrupted)
	// ErrShown says that it failed, and that why has been printed.
	ErrShown = errors.New("failed")
)

// badLine is an error of the command line.
type badLine struct{ error }

// BadLine makes an error one of the command line: Status is BadUsage.
func BadLine(err error) error { return badLine{err} }

func (u badLine) Unwrap() error { return u.error }

// Status is with what a command exits that ended with err.
func (w World) Status(err error) int {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, syscall.EPIPE) && errors.Is(context.Cause(w.Ctx), ErrUnread):
		return Unread
	case errors.Is(err, ErrInterrupted):
		return Interrupted
	case errors.As(err, new(badLine)):
		return BadUsage
	}
	return Failed
}

// Bare is the text of an error without the name of the package, which is the command's too.
func Bare(err error) string { return strings.TrimPrefix(err.Error(), "braid: ") }

// bareError is an error of which Bare is the text.
type bareError struct{ error }

// BareError is an error without the name of the package, to be wrapped.
func BareError(err error) error { return bareError{err} }

func (e bareError) Error() string { return Bare(e.error) }
func (e bareError) Unwrap() error { return e.error }
