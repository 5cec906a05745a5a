package rdma

// EventType is what happened by itself.
//
// Source: ibv_event_type.
type EventType uint8

// The events. Which object one is about says Event.
const (
	// EventCQOverrun: a completion found no room, it is lost. The CQ takes none any more, its queue pairs go to ERR.
	EventCQOverrun EventType = iota // CQ
	// EventQPFatal: a queue pair went to ERR and no completion can say why.
	EventQPFatal
	// EventQPRequest: the peer asked for what can't be; the queue pair went to ERR. Not every device says so: a flushed
	// receive says it too.
	EventQPRequest
	// EventQPAccess: the peer asked for memory without the right; likewise.
	EventQPAccess
	// EventEstablished: the first packet of the peer came before the queue pair was in RTS.
	EventEstablished
	// EventSQDrained: all that was sent before SQD is done.
	EventSQDrained
	// EventLastWQE: a queue pair in ERR has made its last completion. Once per entry to ERR.
	EventLastWQE
	EventPortActive
	EventPortDown
	// EventGIDChange: the GID table changed.
	EventGIDChange
	// EventNeighbour: the MAC of Event.GID changed: handles to it that were made before are stale.
	EventNeighbour
	// EventDeviceFatal: the device failed.
	EventDeviceFatal
	eventTypes
)

func (t EventType) String() string {
	return [...]string{"CQ overrun", "QP fatal", "QP request error", "QP access error", "communication established", "SQ drained",
		"last WQE reached", "port active", "port down", "GID change", "neighbour change", "device fatal", "event(?)"}[min(t, eventTypes)]
}

// Event is something that happened by itself.
//
// Source: ibv_async_event.
type Event struct {
	Type EventType
	QP   QP  // of the events of queue pairs
	CQ   CQ  // of EventCQOverrun
	GID  GID // of EventNeighbour
}
