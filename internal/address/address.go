package address

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// ErrAddress: these bytes, or this text, are no worker's address.
var ErrAddress = errors.New("no address of a worker")

// Address says who a worker is, and where it is reached.
type Address struct {
	Process, Worker uint64   // its name; neither is 0
	Ways            []string // "host:port", best first
}

// What an address can have.
const (
	MaxWays   = 32
	maxWay    = 255
	version   = 1
	prefix    = "braid1."
	headBytes = 1 + 8 + 8 + 1
	sumBytes  = 4
	maxBytes  = 64 << 10 // with what later versions add
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// IsZero says that it is nobody's.
func (a Address) IsZero() bool { return a.Process == 0 }

// Equal says whether two addresses are the same, ways and all.
func (a Address) Equal(o Address) bool {
	return a.Process == o.Process && a.Worker == o.Worker && slices.Equal(a.Ways, o.Ways)
}

// Append appends the address to b. Ways that have no room are left out: all from the 33rd on, and empty or overlong ones.
func (a Address) Append(b []byte) []byte {
	at := len(b)
	b = append(b, version)
	b = binary.LittleEndian.AppendUint64(b, a.Process)
	b = binary.LittleEndian.AppendUint64(b, a.Worker)
	b = append(b, 0)
	for _, way := range a.Ways {
		if n := &b[at+headBytes-1]; *n < MaxWays && len(way) > 0 && len(way) <= maxWay {
			*n++
			b = append(append(b, byte(len(way))), way...)
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[at:], castagnoli))
}

// Decode reads an address.
//
// Errors: ErrAddress, with what is wrong.
func Decode(b []byte) (a Address, err error) {
	switch {
	case len(b) > 0 && b[0] != version:
		return a, fmt.Errorf("%w: it is of version %d, this program reads %d", ErrAddress, b[0], version)
	case len(b) < headBytes+sumBytes || len(b) > maxBytes:
		return a, fmt.Errorf("%w: it has %d bytes", ErrAddress, len(b))
	}
	body, sum := b[:len(b)-sumBytes], binary.LittleEndian.Uint32(b[len(b)-sumBytes:])
	if crc32.Checksum(body, castagnoli) != sum {
		return a, fmt.Errorf("%w: it was changed or cut on the way: its checksum is wrong", ErrAddress)
	}
	a.Process, a.Worker = binary.LittleEndian.Uint64(body[1:]), binary.LittleEndian.Uint64(body[9:])
	if a.Process == 0 || a.Worker == 0 {
		return Address{}, fmt.Errorf("%w: it names nobody", ErrAddress)
	}
	rest := body[headBytes:]
	for range body[headBytes-1] {
		var way []byte
		if way, rest = next(rest); len(way) == 0 || !printable(way) || len(a.Ways) == MaxWays {
			return Address{}, fmt.Errorf("%w: its list of ways can't be read", ErrAddress)
		}
		a.Ways = append(a.Ways, string(way))
	}
	return a, nil
}

// next is the first way of a list, none if it is cut off, and what follows it.
func next(list []byte) (way, rest []byte) {
	if len(list) == 0 || int(list[0]) >= len(list) {
		return nil, nil
	}
	end := 1 + int(list[0])
	return list[1:end], list[end:]
}

// printable says that a way is ASCII that can be seen: it is shown in errors and logs.
func printable(way []byte) bool {
	return !slices.ContainsFunc(way, func(c byte) bool { return c <= ' ' || c >= 0x7f })
}

// Text is the address as one word; "" if it is nobody's.
func (a Address) Text() string {
	if a.IsZero() {
		return ""
	}
	return prefix + base64.RawURLEncoding.EncodeToString(a.Append(nil))
}

// Parse reads what Text has written. Space around it is ignored.
//
// Errors: ErrAddress, with what is wrong.
func Parse(text string) (Address, error) {
	text = strings.TrimSpace(text)
	word, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return Address{}, fmt.Errorf("%w: it doesn't begin with %q; host and port are for Dial", ErrAddress, prefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(word)
	if err != nil {
		return Address{}, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	return Decode(b)
}
