package wire

import (
	"unicode"
	"unicode/utf8"
)

// Limits of texts, in bytes.
const (
	MaxName  = 64  // of Hello.Name and HelloAck.Name
	MaxText  = 200 // of Reject.Text
	MaxAddr  = 64  // of one address
	MaxAddrs = 8
)

// ValidName says whether s can be a peer's label: it is short, valid UTF-8, and every character of it can be shown.
// Control and format characters (line ends, escapes, changes of writing direction) would let a peer forge a log.
func ValidName(s string) bool { return len(s) <= MaxName && showable(s) }

// ValidAddr says whether s can be told to a peer as an address: 1 to MaxAddr printable ASCII characters, no space.
// What it means is for the transport that dials it to say.
func ValidAddr(s string) bool {
	if len(s) == 0 || len(s) > MaxAddr {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func showable(s string) bool {
	for i, r := range s {
		if !unicode.IsGraphic(r) {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}

// appendText appends s such that the peer accepts it: what can't be shown becomes '?', and what is
// beyond limit is cut off at a character. A text is for people: better a little wrong than none.
func appendText(b []byte, s string, limit int) []byte {
	end := len(b) + limit
	for i, r := range s {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		if !unicode.IsGraphic(r) || r == utf8.RuneError && size == 1 {
			r, size = '?', 1
		}
		if len(b)+size > end {
			break
		}
		b = utf8.AppendRune(b, r)
	}
	return b
}
