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
	Offer  = First + 2*each // messages of a program's own, of which only the header has come
)

// Reserved says whether an id is the library's own.
func Reserved(id uint16) bool { return id >= First }

// OfTag says whether an id is one of tagged messages.
func OfTag(id uint16) bool { return id >= Tag && id < Tag+each }

// OfOffer says whether an id is one of offers.
func OfOffer(id uint16) bool { return id >= Offer && id < Offer+each }

// Inner says whether messages to an id are a family's own business: no program has posted them one by one.
func Inner(id uint16) bool { return Reserved(id) && !OfTag(id) && !OfOffer(id) }

// Name is what a message to an id is called towards people.
func Name(id uint16) string {
	switch {
	case id >= Stream && id < Stream+each:
		return "stream"
	case OfTag(id):
		return "tag send"
	case OfOffer(id):
		return "am offer"
	}
	return "am"
}

// Check says why a program can't use an id, nil if it can.
func Check(id uint16) error {
	if !Reserved(id) {
		return nil
	}
	return fmt.Errorf("id %d is the library's own, those below %d are a program's", id, First)
}
