package shm

import (
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm/budget"
	"github.com/openbraid/braid/transport/shm/cma"
	"github.com/openbraid/braid/transport/shm/loan"
)

// Host is the host of addresses that the transport makes up by itself: Listen at "shm:0" picks a name that tells this host from
// others, and that nobody guesses.
const Host = "shm"

const (
	defaultLimit = 512 << 20
	defaultPeer  = 64 << 20

	maxHead  = 4096
	maxFrame = 1<<20 + maxHead
	zeroCopy = 8 << 10 // below it a copy is cheaper than waiting for the acknowledgement

	speed = 100_000 // Mbit/s: what one processor copies

	defaultWindow = 4 << 20
	// maxOutstanding frames, however small they are: each costs an entry in the books.
	maxOutstanding = 16 << 10
)

// Options of the transport. The zero value is fine.
type Options struct {
	// Slots and Data are the size of a ring, for connections that are dialed here: slots of 64 bytes, a power of two; and bytes of large frames under way, a
	// multiple of 32 KiB from 128 KiB on. A connection has two rings. 0: 2048 slots and 512 KiB, and where a worker has more than 16 connections 256 and 128 KiB.
	Slots, Data int
	// Limit is how many bytes of shared memory the connections of all workers may have mapped, whoever made it; 0: 512 MiB. PeerLimit is how many of them may be
	// with one process; 0: 64 MiB.
	Limit, PeerLimit int
	// Read is when a payload is read by its receiver from where it stands (process_vm_readv), where the system lets him: one copy, made by the receiver, not two by
	// both. Measured, the zero value: when that is sooner done. Where system calls are filtered (seccomp) a filter may end who tries; so there it takes Always.
	Read When
	// AnyUser lets peers of other users in, and dials them. They can then change what is under way, and wake this process at will.
	AnyUser bool
	// Fault is asked in each turn what is wrong with a connection, below all that tells of it: a turn that nobody makes asks nothing. Nil: never.
	// Package faulty asks a fault.Injector.
	Fault func(local, remote string) Fault
}

// Fault is what is wrong with a connection: bits.
type Fault uint8

const (
	Mute  Fault = 1 << iota // nothing leaves; what waits goes when it is over
	Deaf                    // nothing is taken; what has arrived is taken when it is over
	Hide                    // the peer is not told that this side ends it
	Reset                   // broken, and both sides are told; for good
	Apart                   // what was borrowed is not used, and what was lent is ended, as with all the others

	Sound  Fault = 0
	Silent       = Mute | Deaf | Hide // nothing arrives and nothing leaves, and nobody is told
)

// When is when payloads are read by their receiver.
type When = cma.When

const (
	Measured = cma.Measured
	Always   = cma.Always
	Never    = cma.Never
)

// New makes the transport.
//
// Source: uct_posix component; its settings are UCX_POSIX_*.
func New(o Options) transport.Transport {
	for _, d := range []struct {
		v   *int
		def int
	}{{&o.Limit, defaultLimit}, {&o.PeerLimit, defaultPeer}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	s := &shm{o: o}
	s.budget.Limit, s.budget.Peer = o.Limit, o.PeerLimit
	return s
}

type shm struct {
	o      Options
	desk   loan.Desk // of all interfaces
	budget budget.Budget
}

// Name implements transport.Transport.
func (*shm) Name() string { return "shm" }
