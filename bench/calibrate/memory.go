package calibrate

import (
	"time"

	"github.com/openbraid/braid"
)

const (
	far   = 128 << 20 // of memory: more than any cache has
	piece = 64 << 10  // that is copied at a time: a message
)

// Copy is what a byte takes that is copied out of memory that is in no cache, into memory that is: as a message is that has waited and is taken. The best
// of some rounds.
func Copy() (ns float64) {
	from, to := make([]byte, far), make([]byte, piece)
	for i := 0; i < len(from); i += 4096 { // pages that nobody has written to are one page
		from[i] = byte(i)
	}
	for range 5 {
		begun := time.Now()
		for at := 0; at+piece <= far; at += piece {
			copy(to, from[at:at+piece])
		}
		if each := float64(time.Since(begun)) / far; ns == 0 || each < ns {
			ns = each
		}
	}
	return ns
}

// Lend is what it takes to let a peer read memory once: a region, its key, and the end of both. The best of some rounds.
//
// Errors: those of braid.Open and Register.
func Lend() (d time.Duration, err error) {
	n, err := braid.Open(braid.Options{})
	if err != nil {
		return 0, err
	}
	defer n.Close()
	b := make([]byte, piece)
	const times = 10_000
	for range 5 {
		begun := time.Now()
		for range times {
			m, err := n.Register(b)
			if err != nil {
				return 0, err
			}
			_ = m.Key(braid.Read).Bytes()
			if err := m.Deregister(); err != nil {
				return 0, err
			}
		}
		if each := time.Since(begun) / times; d == 0 || each < d {
			d = each
		}
	}
	return d, nil
}
