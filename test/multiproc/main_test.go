package multiproc

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// jobKey is the environment variable that makes the test binary a second process.
const jobKey = "BRAID_MULTIPROC_JOB"

// lifetime is how long a second process may live whatever happens to the first.
const lifetime = time.Minute

// job is what a second process is to do. Fields that a role has no use for are zero.
type job struct {
	Role  string
	Netns string   // network namespace to run in
	Addr  string   // to listen on, or to dial
	Rails []string // Options.Rails
	Key   []byte   // packed remote key
	Count int
	Size  int
	Ports string        // range of local ports that the process sets in its namespace
	Peer  time.Duration // Times.Peer
	Alive time.Duration // Times.Keepalive
	Pause time.Duration // between rounds
	Burn  int           // goroutines that compute besides
	Env   []string      // of the process
}

var roles = map[string]func(*self, job){
	"serve":        serve,
	"serve owned":  serveOwned,
	"serve asleep": serveAsleep,
	"serve armed":  serveArmed,
	"arrivals":     arrivals,
	"answer":       answerPolled,
	"ask":          askPolled,
	"ask shared":   askPolled,
	"burn":         burnOnly,
	"send":         sendAndExit,
	"close":        closeAndExit,
	"put":          putUntilTold,
	"weigh":        putStream,
	"messages":     messageStream,
	"dial":         dialMany,
	"take":         take,
	"stream":       stream,
	"scan":         scan,
	"storm":        storm,
	"knock":        knock,
	"trap":         trap,
}

func TestMain(m *testing.M) {
	text := os.Getenv(jobKey)
	if text == "" {
		goleak.VerifyTestMain(m)
		return
	}
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil || roles[j.Role] == nil {
		fmt.Fprintf(os.Stderr, "%s: bad job %q: %v\n", jobKey, text, err)
		os.Exit(2)
	}
	roles[j.Role](newSelf(), j)
	os.Exit(0)
}

// self is a second process's way to talk to the first.
type self struct{ heard chan string }

// newSelf hears commands. The end of standard input is the end of the first process, and so of this one.
func newSelf() *self {
	s := &self{heard: make(chan string, 16)}
	time.AfterFunc(lifetime, func() { s.die("lived for %v: the first process has forgotten this one", lifetime) })
	go func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			s.heard <- in.Text()
		}
		os.Exit(3)
	}()
	return s
}

// say tells the first process a line.
func (s *self) say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// must ends the process if err is an error.
func (s *self) must(err error) {
	if err != nil {
		s.die("%v", err)
	}
}

func (s *self) die(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
