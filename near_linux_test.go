package braid_test

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/self"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/tcp"
)

// TestG5_WordBehindData: what tells that data is there, in memory that is changed directly, is never seen before the data, which goes by frames: over
// shared memory, or over TCP while there is none, with the lane coming and going in between.
func TestG5_WordBehindData(t *testing.T) {
	ctx := testContext(t)
	k := &knife{}
	p := connect(t, braid.Options{Transports: k.transports()}, braid.Options{Transports: k.transports()})
	const size = 300 << 10
	data, flag := bothKinds(t, p, size)
	src, word := make([]byte, size), make([]byte, 8)
	overNetwork := 0
	for i := uint64(1); i < 120; i++ {
		if i%30 == 0 {
			k.shm.Store(int32(shm.Reset))
			if !eventually(func() bool { return kinds(p.a) == "tcp" }) {
				t.Fatalf("the lanes are %q", kinds(p.a))
			}
			k.shm.Store(0) // it comes back while the next ones are under way
		}
		if i%30 == 15 && !eventually(func() bool { return kinds(p.a) == "shm tcp" }) {
			t.Fatalf("it does not come back: %q", kinds(p.a))
		}
		if kinds(p.a) == "tcp" {
			overNetwork++
		}
		for _, at := range []int{0, size/2 - 8, size - 16} {
			binary.LittleEndian.PutUint64(src[at:], i)
		}
		binary.LittleEndian.PutUint64(word, i)
		var done []braid.Request
		switch i % 3 {
		case 0:
			done = append(done, p.a.PostPut(src, data.Key(braid.Write), 0))
			p.a.Fence()
			done = append(done, p.a.PostPut(word, flag.Key(braid.Write), 0))
		case 1:
			done = append(done, p.a.PostPut(src, data.Key(braid.Write), 0))
			if err := p.a.Flush(ctx); err != nil { // then the word goes by itself
				t.Fatal(err)
			}
			done = append(done, p.a.PostPut(word, flag.Key(braid.Write), 0))
		default:
			done = append(done, p.a.PostPutSignal(src, data.Key(braid.Write), 0, braid.Signal{Key: flag.Key(braid.Write), Offset: 0, Value: i}))
		}
		if !eventually(func() bool { return flag.Load64(0) == i }) {
			t.Fatalf("round %d: the word is %d", i, flag.Load64(0))
		}
		for at := uint64(0); at < size && !underRace; at += size/2 - 8 { // the detector does not see that the word, which is stored through another mapping, orders the two
			if v := data.Load64(at); v != i {
				t.Fatalf("the word says %d, and of the data at %d %d is there", i, at, v)
			}
		}
		for _, r := range done {
			if err := r.Wait(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := p.a.Stats().Direct; n == 0 || overNetwork == 0 {
		t.Errorf("%d words were put directly, %d rounds began without shared memory", n, overNetwork)
	}
}

// lines is a log that is kept.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) with(text string) (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, text) {
			all = append(all, line)
		}
	}
	return all
}

// TestE7_NoRoom: without room for shared memory there is none, everything works over TCP, and the reason is said once, with size, limit and setting.
func TestE7_NoRoom(t *testing.T) {
	ctx := testContext(t)
	log := &lines{}
	o := func() braid.Options {
		return braid.Options{
			Transports: []transport.Transport{tcp.New(tcp.Options{}), self.New(self.Options{}), shm.New(shm.Options{Limit: 1 << 20})},
			Log:        slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		}
	}
	p := connect(t, o(), o())
	if got := kinds(p.a); got != "tcp" {
		t.Fatalf("the lanes: %q", got)
	}
	mem, err := p.bn.Alloc(4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.a.Put(ctx, []byte{7, 0, 0, 0, 0, 0, 0, 0}, mem.Key(braid.Write), 0); err != nil {
		t.Fatal(err)
	}
	if err := p.a.Flush(ctx); err != nil || mem.Load64(0) != 7 {
		t.Errorf("%v; the word is %d", err, mem.Load64(0))
	}
	time.Sleep(300 * time.Millisecond) // it is tried again meanwhile
	all := log.with("limit of shared memory")
	if len(all) != 1 {
		t.Fatalf("said %d times:\n%s", len(all), strings.Join(all, ""))
	}
	for _, want := range []string{"1048576", "shm-limit"} {
		if !strings.Contains(all[0], want) {
			t.Errorf("%q is not in %s", want, all[0])
		}
	}
}
