package demo

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/openbraid/braid/internal/demo/tally"
)

// spec is what a child is to do: the first line that it reads. The end of its input means that it shall end too.
type spec struct {
	Rails  rails
	Secret string        // as text: this goes to a child and nowhere else
	Addr   string        `json:",omitempty"` // sender: where the receiver listens
	File   string        `json:",omitempty"` // sender: "" is generated data
	Bytes  int64         `json:",omitempty"` // sender: of data; -1: as many as the time allows
	Time   time.Duration `json:",omitempty"` // sender: how long, at least
	Live   bool          `json:",omitempty"` // what is told is drawn
	Over   string        `json:",omitempty"` // what lanes run over: "rc", "verbs"; else tcp
}

// line is what a child tells. One of the pointers is set.
type line struct {
	Listening string        `json:",omitempty"` // receiver: its address
	Ready     bool          `json:",omitempty"` // sender: all lanes are up, the load begins
	Event     *laneEvent    `json:",omitempty"`
	Cut       *cutStamp     `json:",omitempty"`
	Tick      *tick         `json:",omitempty"`
	Sent      *sentResult   `json:",omitempty"`
	Checked   *checkResult  `json:",omitempty"`
	Failed    string        `json:",omitempty"` // the child can't go on
	At        time.Duration // when it was written
}

// laneEvent is a braid.Event.
type laneEvent struct {
	Kind     string
	At       time.Duration
	Rail     int // sender: of the lane; -1 if there is none
	Lane     string
	Instance string
	Err      string

	Posted, Accepted, PeerAccepted, Replayed uint64
}

// cutStamp says that a rule came into force.
type cutStamp struct {
	Rail    int
	Kind    string
	At      time.Duration
	For     time.Duration
	Streams int
}

// tick is how far a child is.
type tick struct {
	Bytes    uint64            // of data: sent, or checked
	Messages uint64            // sent
	Lanes    map[string]uint64 `json:",omitempty"` // receiver: bytes accepted, by lane instance that is up
}

// sentResult is the sender's last word.
type sentResult struct {
	tally.Totals
	Digest   string
	Started  time.Duration
	Problems []string
}

// checkResult is the receiver's last word.
type checkResult struct {
	tally.Counts
	Digest string
	Ended  time.Duration
	Gaps   []time.Duration   // the longest in the second after each cut
	Before []time.Duration   // and in the second before it
	Lanes  map[string]uint64 // bytes accepted, by lane instance that is up
}

// teller writes lines; from any goroutine.
type teller struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func newTeller(w io.Writer) *teller { return &teller{enc: json.NewEncoder(w)} }

// tell ignores errors: if nobody reads any more, the end of the input is about to say so.
func (t *teller) tell(l line) {
	l.At = now()
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.enc.Encode(l)
}

// lines reads what a child tells until its output ends.
func lines(r io.Reader, each func(line)) error {
	dec := json.NewDecoder(bufio.NewReader(r))
	for {
		var l line
		if err := dec.Decode(&l); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		each(l)
	}
}
