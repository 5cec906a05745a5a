package transport

import "errors"

var (
	// ErrClosed: the endpoint or interface was closed here.
	ErrClosed = errors.New("transport: closed")
	// ErrPortDown: the connection ended since this host's port is down or gone.
	ErrPortDown = errors.New("transport: the port went down")
	// ErrNotHeld: PurgeOutstanding needs an endpoint that is held.
	ErrNotHeld = errors.New("transport: endpoint is not held")
	// ErrPosition: a position that can't be: below what was acknowledged, above what was posted, or a second one.
	ErrPosition = errors.New("transport: position out of range")
	// ErrProtocol: the peer sent bytes that are not this transport's. It may not be a braid peer.
	ErrProtocol = errors.New("transport: not a valid frame")
	// ErrReset: the connection was cut.
	ErrReset = errors.New("transport: connection reset")
	// ErrPeerClosed: the peer closed the connection.
	ErrPeerClosed = errors.New("transport: connection closed by peer")
	// ErrFrame: a post that can't be: head or payload too long, or data before Admit. The endpoint panics with it,
	// since it is a mistake of the engine, not of the peer.
	ErrFrame = errors.New("transport: frame exceeds the agreed limits")
)
