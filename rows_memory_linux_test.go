package braid_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/openbraid/braid"
	"golang.org/x/sys/unix"
)

// Memory, processes and the library as a guest in them: what users of other libraries have met.

// TestE12_MemoryIsReused: bytes arrive as they were sent, over every transport, while the garbage collector runs all the time, checks what it marked, and the
// buffers of messages are dropped as soon as they were sent, or filled with something else.
func TestE12_MemoryIsReused(t *testing.T) {
	if os.Getenv("GOGC") != "1" {
		cmd := exec.CommandContext(testContext(t), os.Args[0], "-test.run=^TestE12_MemoryIsReused$", "-test.count=1")
		cmd.Env = append(os.Environ(), "GODEBUG=gccheckmark=1,clobberfree=1", "GOGC=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("with the garbage collector at work: %v\n%s", err, out)
		}
		return
	}
	for _, over := range []string{"tcp", "shm", "rc,self"} {
		t.Run(over, func(t *testing.T) { reuse(t, over) })
	}
}

// reuse sends messages of all sizes in memory that is nobody's afterwards, each with a checksum in front.
func reuse(t *testing.T, over string) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Settings: transportsAre(t, over)}, braid.Options{Settings: transportsAre(t, over)})
	var heard, wrong atomic.Int64
	p.bw.HandleAM(1, func(m *braid.Message) {
		heard.Add(1)
		if binary.LittleEndian.Uint32(m.Header()) != crc32.ChecksumIEEE(m.Payload()) {
			wrong.Add(1)
		}
	})
	const goroutines, each = 4, 60
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for range each {
				b := tagBytes(1<<rng.IntN(19)+rng.IntN(7), byte(rng.Uint64()))
				header := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
				if err := p.a.SendAM(ctx, 1, header, b); err != nil {
					t.Error(err)
				}
				clear(b) // sent: the slice is ours again
				clear(header)
			}
		})
	}
	wg.Wait()
	if err := p.a.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "all messages are handled", func() bool { return heard.Load() == goroutines*each })
	if wrong.Load() > 0 {
		t.Errorf("%d of %d messages have other bytes", wrong.Load(), goroutines*each)
	}
}

func transportsAre(t *testing.T, list string) *braid.Settings {
	t.Helper()
	s := new(braid.Settings)
	if err := s.Set("transports", list, "the test"); err != nil {
		t.Fatal(err)
	}
	return s
}

// action is struct sigaction of the kernel.
type action struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

// actions are what the process does with each signal.
func actions(t *testing.T) (all [64]action) {
	t.Helper()
	for i := range all {
		if _, _, e := unix.Syscall6(unix.SYS_RT_SIGACTION, uintptr(i+1), 0, uintptr(unsafe.Pointer(&all[i])), 8, 0, 0); e != 0 {
			t.Fatalf("sigaction of signal %d: %v", i+1, e)
		}
	}
	return all
}

// TestE18_NoSignalHandler: what a process does with its signals is the same while endpoints of every transport are at work, and after.
func TestE18_NoSignalHandler(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	before := actions(t)
	same := func(when string) {
		t.Helper()
		for i, a := range actions(t) {
			if a != before[i] {
				t.Errorf("%s: signal %d was %+v, and is %+v", when, i+1, before[i], a)
			}
		}
	}
	for _, over := range []string{"tcp", "shm", "rc,self", "tcp,self,shm"} {
		p := connect(t, braid.Options{Settings: transportsAre(t, over)}, braid.Options{Settings: transportsAre(t, over)})
		p.bw.HandleAM(7, func(*braid.Message) {})
		if err := errors.Join(p.a.SendAM(ctx, 7, nil, nil), p.a.Flush(ctx)); err != nil {
			t.Fatal(err)
		}
		same(over)
		if err := p.a.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	same("after all")
}

// TestE21_KeyOfAnyTransport: a key has nothing of a transport in it, so there is none that a peer doesn't know: whoever reaches its owner uses it, by what he has.
func TestE21_KeyOfAnyTransport(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	for owner, peers := range map[string][]string{"tcp,self,shm": {"tcp", "tcp,self", "tcp,self,shm"}, "rc,self": {"rc", "rc,self"}} {
		n := mustOpen(t, braid.Options{Settings: transportsAre(t, owner)})
		mem, err := n.Alloc(8)
		if err != nil {
			t.Fatal(err)
		}
		ln, err := newWorker(t, n).Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		for _, over := range peers {
			key, err := braid.ParseRKey(mem.Key(braid.Read | braid.Write).Bytes())
			if err != nil {
				t.Fatal(err)
			}
			ep, err := newWorker(t, mustOpen(t, braid.Options{Settings: transportsAre(t, over)})).Dial(ctx, ln.Addr())
			if err != nil {
				t.Fatal(err)
			}
			want, got := []byte((over + "........")[:8]), make([]byte, 8)
			err = errors.Join(ep.Put(ctx, want, key, 0), ep.Flush(ctx), ep.Get(ctx, got, key, 0), ep.Close(ctx))
			if err != nil || string(got) != string(want) {
				t.Errorf("%s, of one who has %s: %v, read %q", over, owner, err, got)
			}
		}
	}
}

// TestE16_NoHooks: nothing of the library is tied into the allocator or the runtime, and no C is linked that could be.
func TestE16_NoHooks(t *testing.T) {
	ctx := testContext(t)
	list := func(format string) string {
		out, err := exec.CommandContext(ctx, "go", "list", "-deps", "-f", format, ".").CombinedOutput()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if with := list("{{if not .Standard}}{{if or .CgoFiles .CFiles .SysoFiles}}{{.ImportPath}}{{end}}{{end}}"); strings.TrimSpace(with) != "" {
		t.Errorf("C in %s", with)
	}
	for _, line := range strings.Split(list(`{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}`), "\n") {
		file := strings.TrimSpace(line)
		if file == "" || strings.Contains(file, "golang.org") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "//go:linkname") || strings.Contains(string(text), `"os/signal"`) {
			t.Errorf("%s ties itself into the runtime", file)
		}
	}
}
