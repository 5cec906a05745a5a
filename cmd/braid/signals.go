package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// errInterrupted is why a command ends that somebody stops. What it had begun it clears away.
var errInterrupted = errors.New("interrupted")

// errUnread: who read what the command prints has gone, as head does when it has enough.
var errUnread = fmt.Errorf("%w: nobody reads what is printed", errInterrupted)

// untilStopped is a context that ends by a signal. A second SIGINT or SIGTERM ends the program at once; a second SIGHUP does not, since a
// terminal that is closed sends two: one by its shell, one itself.
func untilStopped() (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		signal.Notify(signals, syscall.SIGHUP)
	}
	signal.Ignore(syscall.SIGPIPE) // it would end the program in the middle; an output says it, too
	go func() {
		<-signals
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		cancel(errInterrupted)
	}()
	return ctx, cancel
}

// output is standard output, or standard error. When nobody reads it any more the command is interrupted.
type output struct {
	file   *os.File
	unread context.CancelCauseFunc
}

// Write implements io.Writer.
func (o output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if errors.Is(err, syscall.EPIPE) && o.unread != nil {
		o.unread(errUnread)
	}
	return n, err
}
