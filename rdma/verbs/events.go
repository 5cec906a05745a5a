//go:build linux && verbs

package verbs

// #include "shim.h"
import "C"

import "github.com/openbraid/braid/rdma"

// PollEvents implements rdma.Device. While nobody sleeps only each 64th call asks the system, which costs more than a poll.
func (d *device) PollEvents(dst []rdma.Event) int {
	if d.closed {
		return 0
	}
	if d.calls--; d.calls < 0 || d.woken {
		d.calls = looks
		d.look()
	}
	n := copy(dst, d.events)
	if n > 0 {
		d.events = d.events[:copy(d.events, d.events[n:])]
	}
	return n
}

// look takes what the system has.
func (d *device) look() {
	for d.crossings++; C.braid_event(d.ctx, d.event) != 0; d.crossings++ {
		d.happened(d.event)
	}
	if d.removal.happened() {
		d.events = append(d.events, rdma.Event{Type: rdma.EventDeviceFatal})
	}
}

// happened takes one event in.
func (d *device) happened(raw *C.struct_braid_event) {
	e := rdma.Event{}
	switch raw._type {
	case C.IBV_EVENT_CQ_ERR:
		q := d.cqs[uint32(raw.object)]
		if q == nil || q.overrun {
			return
		}
		e.Type, e.CQ = rdma.EventCQOverrun, q
		d.events = append(d.events, e)
		q.overran()
		return
	case C.IBV_EVENT_PORT_ACTIVE:
		e.Type = rdma.EventPortActive
	case C.IBV_EVENT_PORT_ERR:
		e.Type = rdma.EventPortDown
	case C.IBV_EVENT_GID_CHANGE:
		e.Type = rdma.EventGIDChange
	case C.IBV_EVENT_DEVICE_FATAL:
		e.Type = rdma.EventDeviceFatal
	default:
		d.paired(raw)
		return
	}
	if raw.port == 0 || raw.port == C.uint32_t(d.port) {
		d.events = append(d.events, e)
	}
}

// paired takes one event of a queue pair in.
func (d *device) paired(raw *C.struct_braid_event) {
	q := d.qps[uint32(raw.object)]
	if q == nil {
		return
	}
	e := rdma.Event{QP: q}
	switch raw._type {
	case C.IBV_EVENT_QP_FATAL:
		e.Type = rdma.EventQPFatal
	case C.IBV_EVENT_QP_REQ_ERR:
		e.Type = rdma.EventQPRequest
	case C.IBV_EVENT_QP_ACCESS_ERR:
		e.Type = rdma.EventQPAccess
	case C.IBV_EVENT_COMM_EST:
		e.Type = rdma.EventEstablished
	case C.IBV_EVENT_SQ_DRAINED:
		e.Type = rdma.EventSQDrained
		q.draining = false
	default: // the last work request is known from the books; the rest is nothing of the contract's
		return
	}
	d.events = append(d.events, e)
	if e.Type <= rdma.EventQPAccess {
		q.fail()
	}
}
