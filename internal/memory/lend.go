package memory

import (
	"encoding/binary"
	"log/slog"

	"github.com/openbraid/braid/internal/wire"
	"github.com/openbraid/braid/transport"
)

// LoanKey is what a transport is given of a key, to borrow the region with.
func LoanKey(index uint32, secret wire.Secret) (k transport.MemKey) {
	binary.LittleEndian.PutUint64(k[:], uint64(secret))
	binary.LittleEndian.PutUint32(k[8:], index)
	return k
}

// Lends is what makes memory that peers on this host may borrow, of a node's transports: the first that can.
func Lends(all []transport.Transport) transport.Lender {
	for _, x := range all {
		if l, ok := x.(transport.Lender); ok {
			return l
		}
	}
	return nil
}

// Alloc makes zeroed memory of size bytes and registers it: memory that peers may borrow, if from is not nil and has room.
// The first time that there is no room log is told.
func (t *Table) Alloc(size int, from transport.Lender, log *slog.Logger) *Region {
	if from == nil || size == 0 {
		return t.Add(Aligned(size))
	}
	x, err := from.Export(size)
	if err != nil {
		if !t.unlent.Swap(true) {
			log.Warn("braid: memory is not shared with peers on this host: what they put and get there goes through this process", "bytes", size, "err", err)
		}
		return t.Add(Aligned(size))
	}
	r := &Region{Bytes: x.Bytes(), export: x}
	t.add(r)
	return r
}

// Lend says what the holder of a key may borrow. A region that is watched is not lent: nobody would see the writes.
func (t *Table) Lend(k transport.MemKey) (l transport.Loan) {
	r := t.find(binary.LittleEndian.Uint32(k[8:]))
	if r == nil {
		return l
	}
	has, ok := r.rights(wire.Secret(binary.LittleEndian.Uint64(k[:])))
	if !ok || has == 0 || r.export == nil || r.Watch != nil || r.dead.Load() {
		return l
	}
	return transport.Loan{Export: r.export, Rights: uint8(has), Write: has&^wire.Read != 0}
}

// Close ends what is lent, of all regions.
func (t *regions) Close() {
	for _, row := range *t.rows.Load() {
		for i := range row {
			if r := row[i].Load(); r != nil && r.export != nil {
				r.export.Revoke()
			}
		}
	}
}
