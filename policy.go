package braid

import "github.com/openbraid/braid/internal/sleep"

// WaitPolicy is how blocking calls wait. Whoever only calls Progress polls, whatever this says.
type WaitPolicy uint8

const (
	// WaitAdaptive polls for some ten microseconds, then lets others have the processor between polls, then sleeps. The default.
	WaitAdaptive = WaitPolicy(sleep.Adaptive)
	// WaitPoll polls until the end: lowest latency, one processor for each waiter.
	WaitPoll = WaitPolicy(sleep.Poll)
	// WaitSleep sleeps at once: least processor time, at the price of a wake-up for each wait.
	WaitSleep = WaitPolicy(sleep.AtOnce)
)

func (p WaitPolicy) String() string { return sleep.Policy(p).String() }
