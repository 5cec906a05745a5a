package braid

// Fence keeps what is posted on the endpoint from now on behind what was posted on it before: at the peer the effect of nothing
// later is there before the effect of all that was earlier. It returns at once and waits for nothing; where lanes would not keep
// the order by themselves, later operations wait, and go by themselves when they may. It may be called from anywhere, also from a
// callback, and while lanes come and go.
//
// Order:  the effect of a put is its bytes, that of a get is that it has read, that of a message is that it is queued for its
// handler: the handler itself may run later.
// Done:   of nothing: a Flush says that. A flush is no fence either: what is posted after PostFlush does not wait for it.
// Source: ucp_worker_fence with UCX_FENCE_MODE=ep_based, for one endpoint.
func (ep *Endpoint) Fence() {
	ep.w.lock()
	ep.e.Fence()
	ep.w.unlockOnly()
}

// Fence is Endpoint.Fence for each endpoint of the worker. Between endpoints there is no order: flush where one is needed.
//
// Source: ucp_worker_fence.
func (w *Worker) Fence() {
	w.lock()
	w.eng.Fence()
	w.unlockOnly()
}
