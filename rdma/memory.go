package rdma

// PD is a protection domain.
//
// Source: ibv_pd.
type PD interface {
	// RegMR makes buf known to the device.
	//
	// Owns:   buf is pinned, and the device may read and write it by its keys, until Deregister says nil.
	// Errors: ErrInvalid for an empty buf, or remote write or atomic access without AccessLocalWrite; ErrLimit.
	// Source: ibv_reg_mr.
	RegMR(buf []byte, access Access) (MR, error)

	// AllocMW makes a memory window, bound to nothing.
	//
	// Errors: ErrUnsupported if Attr().Windows lacks t.
	// Source: ibv_alloc_mw.
	AllocMW(t MWType) (MW, error)

	// CreateAH resolves the way to an address, once: later changes of the neighbour are not seen.
	//
	// Errors: ErrUnreachable; ErrInvalid if the source index has no GID, or one of another version or family.
	// Source: ibv_create_ah.
	CreateAH(a AHAttr) (AH, error)

	// CreateQP makes a queue pair in RESET.
	//
	// Errors: ErrInvalid, ErrLimit; ErrBusy for a second TypeGSI.
	// Source: ibv_create_qp.
	CreateQP(a QPInit) (QP, error)

	// Dealloc ends the domain. ErrBusy while anything of it is left.
	//
	// Source: ibv_dealloc_pd.
	Dealloc() error
}

// Access is a set of rights on memory.
//
// Source: ibv_access_flags, whose numbers it has.
type Access uint8

// The rights. Local read needs none.
const (
	AccessLocalWrite Access = 1 << iota
	AccessRemoteWrite
	AccessRemoteRead
	AccessRemoteAtomic
	AccessMWBind
)

// AccessRemote is every remote right.
const AccessRemote = AccessRemoteWrite | AccessRemoteRead | AccessRemoteAtomic

// Has says whether all rights of want are in a.
func (a Access) Has(want Access) bool { return a&want == want }

// MR is a memory region.
//
// Source: ibv_mr.
type MR interface {
	// Bytes is the registered memory.
	Bytes() []byte
	// Addr is the address of Bytes()[0] in work requests, here and at the peer. Whose choice it is, is the device's own: a
	// software device takes a random one, so that it is a secret as the key is.
	Addr() uint64
	LKey() uint32
	RKey() uint32

	// Deregister ends remote access at once, whatever it returns. ErrBusy: a local work request still uses the region, or a
	// window is bound to it: complete those, and call again. After nil the memory is the caller's.
	//
	// Source: ibv_dereg_mr; the waiting is ours, there a region in use is the caller's mistake.
	Deregister() error
}

// MWType is what a memory window is bound to.
//
// Source: ibv_mw_type.
type MWType uint8

// The types of windows.
const (
	// Window1 opens to every queue pair of the domain, and is closed by a bind of 0 bytes.
	Window1 MWType = 1
	// Window2 opens to the queue pair that bound it, and is closed by OpLocalInv there or OpSendInv from its peer.
	Window2 MWType = 2
)

// MW is a memory window: a part of a region with a key and rights of its own, which can be revoked while the region stays.
//
// Source: ibv_mw.
type MW interface {
	Type() MWType
	// RKey is the key by which the peer reaches the window. Each post of OpBindMW gives it a new one, valid when
	// the bind is executed; the one before then ends.
	RKey() uint32
	// Dealloc ends the window and its key at once. ErrBusy while a posted work request names it.
	Dealloc() error
}
