package perf

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openbraid/braid"
)

// version is that of the dialogue. Both sides must have the same: what is measured may differ otherwise.
const version = 4

// Active message ids.
const (
	idNote = 1 + iota // of the dialogue
	idData            // of the test, client to server
	idEcho            // of the test, server to client
)

// kind is what a note says.
type kind string

const (
	kindStart   kind = "start"   // client: begin a test
	kindReady   kind = "ready"   // server: I have
	kindRefused kind = "refused" // server: I won't, and why
	kindCheck   kind = "check"   // client: look at the puts [First, First+Count), all of them are executed; of a stream: answer when Count have arrived
	kindChecked kind = "checked" // server: I have
	kindStop    kind = "stop"    // client: the test is over
	kindReport  kind = "report"  // server: what arrived
)

// note is one message of the dialogue. The first two fields never change their meaning.
type note struct {
	Version int    `json:"version"`
	Kind    kind   `json:"kind"`
	Client  string `json:"client,omitempty"`
	Text    string `json:"text,omitempty"`
	Key     []byte `json:"key,omitempty"`
	Test    string `json:"test,omitempty"`
	Size    int    `json:"size,omitempty"`
	Slots   int    `json:"slots,omitempty"`
	Pieces  []int  `json:"pieces,omitempty"` // the server receives into a list of buffers of these sizes
	Total   uint64 `json:"total,omitempty"`  // operations, those of the warm-up too; 0: not known. Of stop: how many there were, 0: as many as was said
	Verify  bool   `json:"verify,omitempty"`
	Shared  bool   `json:"shared,omitempty"`
	Sleep   bool   `json:"sleep,omitempty"`
	More    bool   `json:"more,omitempty"` // of stop: the client has another test, on another endpoint
	First   uint64 `json:"first,omitempty"`
	Count   uint64 `json:"count,omitempty"`
	Tally   Tally  `json:"tally"`

	from *braid.Endpoint
}

func (n note) bytes() []byte {
	n.Version = version
	b, err := json.Marshal(n)
	if err != nil {
		panic(err) // the type above can't be encoded
	}
	return b
}

// parseNote reads a note, whatever bytes they are.
func parseNote(b []byte) (note, error) {
	var n note
	if err := json.Unmarshal(b, &n); err != nil {
		return note{}, errors.New("the peer is no braid perftest: another command, as braid recv, or another version of braid has that address")
	}
	if n.Version != version {
		return note{Version: n.Version}, fmt.Errorf("the peer's perftest speaks version %d, this one %d: use the same braid on both sides", n.Version, version)
	}
	return n, nil
}
