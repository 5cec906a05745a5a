package family

import "fmt"

// First is the first id of the library's own. All above it are, too.
const First uint16 = 0xff00

// each is how many ids a family has.
const each = 16

// The families' first ids.
const (
	Tag    = First + 0*each // tagged messages
	Stream = First + 1*each // streams of bytes
)

// Reserved says whether an id is the library's own.
func Reserved(id uint16) bool { return id >= First }

// Check says why a program can't use an id, nil if it can.
func Check(id uint16) error {
	if !Reserved(id) {
		return nil
	}
	return fmt.Errorf("id %d is the library's own, those below %d are a program's", id, First)
}
