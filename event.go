package braid

import "context"

// EventFD is a descriptor for an event loop of one's own, on an Owned worker. It becomes readable when Progress has something to do,
// also because a time has come; but only after Arm has said true. Watch it for reading, level- or
// edge-triggered, and never read from it; it is the worker's and is closed with it.
//
//	loop:  for w.Progress() > 0 {}      // until nothing is left to do
//	       if !w.Arm() { continue }     // something came meanwhile
//	       wait for EventFD and whatever else the program waits for
//
// Errors: *OpError: ErrShared of a Shared worker, which sleeps by itself; errors.ErrUnsupported on systems other than Linux: use
// Sleep there; ErrClosed.
// Source: ucp_worker_get_efd.
func (w *Worker) EventFD() (int, error) { return w.desk.EventFD() }

// Arm prepares EventFD. False: there is something to do now, call Progress. True: there is nothing, and the descriptor becomes readable
// when there is. Each Arm holds for one sleep; posting after it is legal, but arm again before sleeping.
//
// Of a Shared or a closed worker, and where there is no EventFD, it is false.
//
// Source: ucp_worker_arm.
func (w *Worker) Arm() bool { return w.desk.Arm() }

// Sleep sleeps until an Owned worker has something to do, somebody calls Wake, or the context is over. It makes no progress: a
// program without other descriptors calls the two in turn. It may return for nothing. A Shared worker sleeps by itself.
//
//	for ctx.Err() == nil {
//		for w.Progress() > 0 {
//		}
//		w.Sleep(ctx)
//	}
//
// Errors: *OpError: ErrShared, ErrClosed, ErrInCallback; the context's.
// Source: ucp_worker_wait.
func (w *Worker) Sleep(ctx context.Context) error { return w.desk.OwnerSleep(ctx) }

// Wake ends the present or the next sleep of the worker, makes its EventFD readable, or the next Arm say false. Any goroutine may
// call it, also of an Owned worker, and at any time.
//
// Source: ucp_worker_signal.
func (w *Worker) Wake() { w.desk.Wake() }
