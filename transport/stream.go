package transport

import "errors"

// Stream is the non-blocking byte stream below a stream transport: a socket, or a socket with a fault in
// front of it. It is the seam at which package fault cuts a lane without telling anybody.
type Stream interface {
	// Read reads what is there. 0, ErrAgain: nothing now. 0, io.EOF: the peer ended its side.
	Read(p []byte) (int, error)
	// Writev writes as much as fits of the pieces, in order. ErrAgain with n == 0: nothing fits now.
	Writev(p [][]byte) (int, error)
	// Connected says whether a connection that was started stands: nil, ErrAgain, or why it can't.
	Connected() error
	// Shutdown ends our direction: the peer reads EOF.
	Shutdown() error
	// Reset cuts the connection: each side reads and writes errors from now on. The descriptor stays open,
	// so that its number is not given to somebody else, and polls readable. For faults.
	Reset() error
	// Close closes both directions and gives the descriptor back; with reset the peer sees a reset instead of an end.
	Close(reset bool) error
	// Reached changes when the peer's system has more of what it lacked at the look before, or has all and sent more; 0: nobody can tell. Something new
	// that is taken when all was there changes nothing: of what waits for an answer it says nothing.
	Reached() uint64
	// FD is the descriptor to poll.
	FD() int
}

// ErrAgain: a non-blocking call would have blocked.
var ErrAgain = errors.New("transport: would block")

// Wrapper puts something in front of each new stream of a transport.
type Wrapper interface {
	// Wrap returns what is to be used instead of s. local and remote are the addresses ("" if unknown).
	// A wrapped stream whose descriptor polls ready although it has nothing to give is polled by hand.
	Wrap(s Stream, local, remote string) Stream
}
