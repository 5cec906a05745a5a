package wire

import (
	"strconv"
	"strings"
)

// Side is one of the two sides of an endpoint. The names are absolute: both peers call the same side Dialer.
type Side uint8

const (
	Dialer   Side = 0
	Acceptor Side = 1
)

// Other is the side across.
func (s Side) Other() Side { return s ^ 1 }

func (s Side) String() string {
	switch s {
	case Dialer:
		return "dialer"
	case Acceptor:
		return "acceptor"
	}
	return "side(" + strconv.Itoa(int(s)) + ")"
}

// Instance names one life of a lane: who opened it, and a count of that side that starts at 1 and is
// never reused. A lane's index never travels: a late frame about an old life would be taken for the new one.
type Instance struct {
	Opener Side
	N      uint64
}

// String is "d1" for the dialer's first, "a7" for the acceptor's seventh.
func (i Instance) String() string {
	letter := "?"
	switch i.Opener {
	case Dialer:
		letter = "d"
	case Acceptor:
		letter = "a"
	}
	return letter + strconv.FormatUint(i.N, 10)
}

// ParseInstance reads what String wrote, and says whether it is that.
func ParseInstance(s string) (i Instance, ok bool) {
	switch {
	case strings.HasPrefix(s, "d"):
		i.Opener = Dialer
	case strings.HasPrefix(s, "a"):
		i.Opener = Acceptor
	default:
		return Instance{}, false
	}
	n, err := strconv.ParseUint(s[1:], 10, 64)
	if i.N = n; err != nil || n == 0 || i.String() != s {
		return Instance{}, false
	}
	return i, true
}

// instanceSize: opener u8, 7 reserved, n u64.
const instanceSize = 16

func (i Instance) appendTo(b []byte) []byte {
	b = append(b, byte(i.Opener), 0, 0, 0, 0, 0, 0, 0)
	return le.AppendUint64(b, i.N)
}

// instanceAt reads the instance at b[off:], which must be there, of the named message.
func instanceAt(message string, b []byte, off int) (Instance, error) {
	f := b[off : off+instanceSize]
	if f[0] > byte(Acceptor) {
		return Instance{}, bad(message, off, "opener is neither 0 (dialer) nor 1 (acceptor)")
	}
	if err := reserved(message, b, off+1, off+8); err != nil {
		return Instance{}, err
	}
	i := Instance{Opener: Side(f[0]), N: le.Uint64(f[8:])}
	if i.N == 0 {
		return Instance{}, bad(message, off+8, "instance number is 0, they start at 1")
	}
	return i, nil
}
