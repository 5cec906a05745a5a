package shell

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// UntilStopped is a context that ends by a signal. A second SIGINT or SIGTERM ends the program at once; a second SIGHUP does not, since a
// terminal that is closed sends two: one by its shell, one itself.
func UntilStopped() (context.Context, context.CancelCauseFunc) {
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
		cancel(ErrInterrupted)
	}()
	return ctx, cancel
}
