package delivery

import "runtime"

// run is how the runtime calls Queue.Run.
const run = "github.com/openbraid/braid/internal/delivery.(*Queue).Run"

// Inside says whether the caller is user code that some Queue runs: a handler, a callback, or what they have called in their own goroutine. It walks through the
// stack, so it is for what happens once.
func Inside() bool {
	var pcs [64]uintptr
	for skip := 1; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == run {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
