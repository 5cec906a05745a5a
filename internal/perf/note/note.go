package note

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/perf/ledger"
)

// Version is that of the dialogue. Both sides must have the same: what is measured may differ otherwise.
const Version = 4

// Active message ids.
const (
	ID   = 1 + iota // of the dialogue
	Data            // of the test, client to server
	Echo            // of the test, server to client
)

// Kind is what a note says.
type Kind string

const (
	Start   Kind = "start"   // client: begin a test
	Ready   Kind = "ready"   // server: I have
	Refused Kind = "refused" // server: I won't, and why
	Check   Kind = "check"   // client: look at the puts [First, First+Count), all of them are executed; of a stream: answer when Count have arrived
	Checked Kind = "checked" // server: I have
	Stop    Kind = "stop"    // client: the test is over
	Report  Kind = "report"  // server: what arrived
)

// Note is one message of the dialogue. The first two fields never change their meaning.
type Note struct {
	Version int          `json:"version"`
	Kind    Kind         `json:"kind"`
	Client  string       `json:"client,omitempty"`
	Text    string       `json:"text,omitempty"`
	Key     []byte       `json:"key,omitempty"`
	Test    string       `json:"test,omitempty"`
	Size    int          `json:"size,omitempty"`
	Slots   int          `json:"slots,omitempty"`
	Pieces  []int        `json:"pieces,omitempty"` // the server receives into a list of buffers of these sizes
	Total   uint64       `json:"total,omitempty"`  // operations, those of the warm-up too; 0: not known. Of stop: how many there were, 0: as many as was said
	Verify  bool         `json:"verify,omitempty"`
	Shared  bool         `json:"shared,omitempty"`
	Sleep   bool         `json:"sleep,omitempty"`
	More    bool         `json:"more,omitempty"` // of stop: the client has another test, on another endpoint
	First   uint64       `json:"first,omitempty"`
	Count   uint64       `json:"count,omitempty"`
	Tally   ledger.Tally `json:"tally"`

	From *braid.Endpoint `json:"-"` // who sent it; the receiver notes it
}

// Bytes are what is sent.
func (n Note) Bytes() []byte {
	n.Version = Version
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // the type above can't be encoded
	}
	return b
}

// Parse reads a note, whatever bytes they are.
func Parse(b []byte) (Note, error) {
	var n Note
	if err := json.Unmarshal(b, &n); err != nil {
		return Note{}, errors.New("the peer is no braid perftest: another command, as braid recv, or another version of braid has that address")
	}
	if n.Version != Version {
		return Note{Version: n.Version}, fmt.Errorf("the peer's perftest speaks version %d, this one %d: use the same braid on both sides", n.Version, Version)
	}
	return n, nil
}
