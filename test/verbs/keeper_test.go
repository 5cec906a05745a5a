//go:build linux && verbs

package verbs

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// Messages of these tests.
const (
	amCount  = 1 // a number; they come in order, each once
	amRound  = 2 // a number: the memory has the data of that round, or of a later one
	amAbout  = 3 // TestTold: a link goes down now
	amReport = 4 // TestTold: asks how the loss was known; answered with the text
	amHello  = 5 // a world begins: answered with a key of the memory
	amTally  = 6 // asks what came of it: answered with a tally
)

// dataBytes of each round of fenced puts; behind them is a word to which each message adds one.
const (
	dataBytes = 100_000 &^ 7
	sumAt     = 1 << 17
	memBytes  = sumAt + 8
)

// tally is what came of a world's load.
type tally struct {
	Messages, Rounds uint64
	Sum              uint64 // of the fetch-and-adds
	Bad              []string
}

func parseTally(t testing.TB, b []byte) (is tally) {
	t.Helper()
	if err := json.Unmarshal(b, &is); err != nil {
		t.Fatal(err)
	}
	return is
}

// keeper is the side that receives: it has the memory, and counts.
type keeper struct {
	mem *braid.Memory

	mu sync.Mutex
	tally
}

func newKeeper(t testing.TB, on *braid.Worker) *keeper {
	t.Helper()
	mem, err := on.Node().Alloc(memBytes)
	if err != nil {
		t.Fatal(err)
	}
	k := &keeper{mem: mem}
	on.HandleAM(amCount, k.counted)
	on.HandleAM(amRound, k.round)
	on.HandleAM(amHello, k.hello)
	on.HandleAM(amTally, k.tells)
	return k
}

func (k *keeper) counted(m *braid.Message) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := binary.LittleEndian.Uint64(m.Header()); n != k.Messages {
		k.Bad = append(k.Bad, fmt.Sprintf("message %d came where %d was due", n, k.Messages))
	}
	k.Messages++
}

func (k *keeper) round(m *braid.Message) {
	n := binary.LittleEndian.Uint64(m.Header())
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, at := range []uint64{0, dataBytes / 2 &^ 7, dataBytes - 8} {
		if is := k.mem.Load64(at); is < n {
			k.Bad = append(k.Bad, fmt.Sprintf("told of round %d, and the word at %d is of round %d", n, at, is))
		}
	}
	k.Rounds++
}

// hello: the world before it has ended, with a flush.
func (k *keeper) hello(m *braid.Message) {
	k.mu.Lock()
	k.tally = tally{}
	clear(k.mem.Bytes())
	k.mu.Unlock()
	m.Endpoint().PostAM(amHello, nil, k.mem.Key(braid.Read|braid.Write|braid.Atomic).Bytes()).Release()
}

func (k *keeper) tells(m *braid.Message) {
	k.mu.Lock()
	k.Sum = k.mem.Load64(sumAt)
	b, _ := json.Marshal(k.tally)
	k.mu.Unlock()
	m.Endpoint().PostAM(amTally, nil, b).Release()
}

// servePort is where the machine that receives listens.
const servePort = "7789"

// TestServes is the side of the tests of faults that receives, if they run in another machine: until the file BRAID_VERBS_UNTIL is there. Its device, links and addresses stay; what it knows of
// the other's is what it is told.
func TestServes(t *testing.T) {
	until := os.Getenv("BRAID_VERBS_UNTIL")
	if until == "" {
		t.Fatal("BRAID_VERBS_UNTIL must be the name of a file whose being there ends it; make verbs runs it, beside a machine that dials")
	}
	left(t)
	all := rails(t)
	server := node(t, braid.Options{Settings: settings(t, "verbs,self"), Rails: all})
	k := newKeeper(t, server)
	ln, err := server.Listen(net.JoinHostPort(all[0], servePort))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	came := make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			if _, err := ln.Accept(ctx); err != nil {
				came <- n
				return
			}
		}
	}()
	for {
		if _, err := os.Stat(until); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	cancel()
	n := <-came
	t.Logf("%d endpoints were served", n)
	if k.mu.Lock(); n == 0 || k.Messages == 0 {
		t.Errorf("%d endpoints were served; the last one: %+v", n, k.tally)
	}
	k.mu.Unlock()
}
