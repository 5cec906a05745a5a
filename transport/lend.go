package transport

import "sync/atomic"

// Between processes of one host a put need not be a frame: memory of one can be mapped in the other, which then copies by itself. Who owns it
// lends, who uses it borrows. All of this is optional: who finds that an endpoint is no Borrower posts frames.
//
//	Lender.Export ──> memory of a node          Borrower.Borrow(key) ── asks ──> the peer's Loaner.Lend(key) ──> Export
//	                                                     <────────── a Window, some turns later ──────────────
//	Export.Revoke ──> no Window lets anybody in          Window.Enter, copy, Leave
//
// A copy is over when the call returns that made it: it is never outstanding, has no position, and is never replayed. Quiesce, of either side,
// and Close end the use of what was borrowed over an endpoint.

// Lender is implemented by a Transport that can make memory which peers may borrow, over all of its interfaces.
//
// Source: uct_md_mem_alloc, uct_md_mkey_pack.
type Lender interface {
	// Export makes zeroed memory of size bytes, at least 1, that begins at a cache line. It is safe for concurrent use.
	//
	// Errors: there is no room for it, or there are too many; then ordinary memory does.
	Export(size int) (Export, error)
}

// Export is such memory. It is safe for concurrent use.
type Export interface {
	// Bytes is the memory. It lasts as long as anybody refers to it, whatever becomes of the rest.
	Bytes() []byte
	// Revoke ends all access of borrowers: none enters after it. It says whether none is inside any more; if not, ask again. Idempotent.
	Revoke() (idle bool)
}

// MemKey names memory of a peer, and proves that one may use it: the engine's own, a transport compares it only.
type MemKey [16]byte

// Loaner is implemented by a Sink whose engine lends memory.
type Loaner interface {
	// Lend says what a key of the peer's is for. Export is nil if it is for nothing that can be lent. From inside Progress.
	Lend(key MemKey) Loan
}

// Loan is what a borrower gets.
type Loan struct {
	Export
	Rights uint8 // the engine's own
	Write  bool  // else the memory is mapped for reading
}

// Borrower is implemented by an Endpoint over which memory can be borrowed.
//
// Source: uct_rkey_ptr, UCT_IFACE_FLAG_PUT_SHORT of shared memory.
type Borrower interface {
	// Borrow returns the peer's memory that key names, nil if it is not here: then the peer is asked for it once, and a later call may
	// return it.
	Borrow(key MemKey) *Window
}

// Window is memory of a peer. It belongs to the owner of the endpoint over which it was borrowed.
type Window struct {
	Rights uint8 // of Loan
	mem    []byte
	gate   *atomic.Uint32
}

// What a gate's word says. The borrower changes Inside, the owner sets Shut.
const (
	GateInside = 1
	GateShut   = 2
)

// NewWindow makes a window: for transports. gate is shared with the owner of the memory.
func NewWindow(mem []byte, gate *atomic.Uint32, rights uint8) *Window {
	return &Window{Rights: rights, mem: mem, gate: gate}
}

// Enter returns the memory, for one copy; nil if access has ended. What it holds may change at any time: read it once.
func (w *Window) Enter() []byte {
	if w.gate == nil || !w.gate.CompareAndSwap(0, GateInside) {
		return nil
	}
	return w.mem
}

// Leave ends what Enter began.
func (w *Window) Leave() {
	if !w.gate.CompareAndSwap(GateInside, 0) {
		w.gate.Store(GateShut)
	}
}

// Close ends the window, for transports: nobody enters any more.
func (w *Window) Close() { w.mem, w.gate = nil, nil }
