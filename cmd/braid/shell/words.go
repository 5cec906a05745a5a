package shell

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ByteCount is a number of bytes with or without a unit.
type ByteCount int64

// mostBytes is a million terabytes: what is more is a slip of the pen.
const mostBytes = 1e18

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *ByteCount) UnmarshalText(text []byte) error {
	s := strings.ToUpper(strings.TrimSpace(string(text)))
	digits := strings.TrimRight(s, "KMGTIB")
	unit, known := map[string]float64{
		"": 1, "B": 1, "K": 1e3, "KB": 1e3, "M": 1e6, "MB": 1e6, "G": 1e9, "GB": 1e9, "T": 1e12, "TB": 1e12,
		"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	}[s[len(digits):]]
	n, err := strconv.ParseFloat(digits, 64)
	switch n *= unit; {
	case !known || err != nil && !errors.Is(err, strconv.ErrRange) || !(n >= 1):
		return fmt.Errorf("%q is no number of bytes; write 1000000, 500M, 2G or 64MiB", text)
	case n > mostBytes:
		return fmt.Errorf("%q is too many bytes: 1000000T is the most", text)
	}
	*b = ByteCount(n)
	return nil
}

// JoinNumbers puts negative numbers to the flag before them: the parser would take them for flags, and not say what is allowed.
func JoinNumbers(args []string) (out []string) {
	for i, a := range args {
		if i == 0 || len(a) < 2 || a[0] != '-' || a[1] < '0' || a[1] > '9' || !strings.HasPrefix(args[i-1], "-") {
			out = append(out, a)
			continue
		}
		last := &out[len(out)-1]
		if strings.HasPrefix(*last, "--") {
			*last += "="
		}
		*last += a
	}
	return out
}

// OneLine is a help text without what would end its line.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
