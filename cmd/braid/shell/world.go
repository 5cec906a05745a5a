package shell

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
)

// World is what a sub-command may touch of its surroundings.
type World struct {
	Ctx    context.Context // ends when the command is to end; its cause says why
	In     io.Reader
	Out    Output // for what was asked for
	ErrOut Output // for people, when Out is for a program
}

// Output is standard output, or standard error.
type Output struct {
	File   *os.File
	Unread context.CancelCauseFunc // is told when nobody reads File any more, nil if nobody wants to know
}

// Write implements io.Writer.
func (o Output) Write(b []byte) (int, error) {
	n, err := o.File.Write(b)
	if errors.Is(err, syscall.EPIPE) && o.Unread != nil {
		o.Unread(ErrUnread)
	}
	return n, err
}

// IsTerminal says whether somebody looks at it; for colours, so a device that is none does no harm.
func (o Output) IsTerminal() bool {
	st, err := o.File.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
