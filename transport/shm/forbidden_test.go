//go:build linux

package shm

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/transport"
)

const (
	forbidFrames = 60
	forbidAt     = 20
	forbidSize   = 100_000
)

// patterned is the payload of frame i.
func patterned(i int) []byte { return bytes.Repeat([]byte{byte(i), byte(i >> 8), 0xa5}, forbidSize/3) }

// forbid has the system refuse process_vm_readv to all threads from now on, as the filter of a container does.
func forbid() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_PROCESS_VM_READV},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0x00050000 | uint32(unix.EPERM)}, // SECCOMP_RET_ERRNO
		{Code: unix.BPF_RET | unix.BPF_K, K: 0x7fff0000},                      // SECCOMP_RET_ALLOW
	}
	p := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, 1, 1, uintptr(unsafe.Pointer(&p))); e != 0 { // SET_MODE_FILTER, for all threads
		return e
	}
	return nil
}

// forbidden is the process that reads, and may not any more in the middle of it. It says on its output what came of that.
func forbidden(addr string) {
	start := time.Now()
	var lines strings.Builder
	f, err := New(Options{Read: Always}).Open(transport.Env{
		Now: func() time.Duration { return time.Since(start) + 1 }, Rand: rand.Uint64, Log: slog.New(slog.NewTextHandler(&lines, nil)),
	})
	if err != nil {
		panic(err)
	}
	p := &reader{}
	if p.ep, err = f.Dial("", addr, transport.Options{}, p); err != nil {
		panic(err)
	}
	admitted, wrong := false, 0
	before := uint64(0)
	for end := start.Add(20 * time.Second); len(p.bodies) < forbidFrames && p.err == nil && time.Now().Before(end); {
		if p.up && !admitted {
			admitted = true
			p.ep.Admit(maxFrame, true)
			p.ep.Post(&transport.Frame{ID: 1, Done: p}) // go
		}
		if len(p.bodies) >= forbidAt && before == 0 {
			if before = p.ep.(*endpoint).recv.fetched; before == 0 {
				fmt.Println("SKIP: this system lets nobody read another process's memory")
				os.Exit(0)
			}
			if err := forbid(); err != nil {
				fmt.Println("SKIP: no filter of system calls:", err)
				os.Exit(0)
			}
		}
		f.Progress()
		f.Flush()
	}
	for i, b := range p.bodies {
		if !bytes.Equal(b, patterned(i)) {
			wrong++
		}
	}
	fmt.Printf("%d frames, %d wrong, %v; %v; %d lines: %s\n", len(p.bodies), wrong, p.err,
		p.ep.(*endpoint).recv.fetched == before, strings.Count(lines.String(), "\n"), lines.String())
	os.Exit(0)
}

// TestE3_ForbiddenAtRunTime: that the system does not let a process read its peer's memory any more, which it did before, costs nothing: what is under way comes another way, and the
// log has one line about it.
func TestE3_ForbiddenAtRunTime(t *testing.T) {
	f := openedOn(t, New(Options{Slots: 64, Data: 128 << 10, Read: Always}))
	defer f.Close()
	p := &reader{retain: true}
	l, err := f.Listen("shm:0", p)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BRAID_SHM_CHILD="+l.Addr(), "BRAID_SHM_FORBID=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(out)
		said <- string(b)
	}()
	posted, got := 0, ""
	for end := time.Now().Add(30 * time.Second); got == "" && time.Now().Before(end); {
		for len(p.bodies) > 0 && posted < forbidFrames && p.ep.(*endpoint).led.Len() < 8 {
			p.ep.Post(&transport.Frame{ID: 1, Payload: patterned(posted), ZeroCopy: true, Done: p})
			posted++
		}
		turns(100, never, f)
		select {
		case got = <-said:
		default:
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if strings.HasPrefix(got, "SKIP") {
		t.Skip(got)
	}
	want := fmt.Sprintf("%d frames, 0 wrong, <nil>; true; 1 lines:", forbidFrames)
	if !strings.HasPrefix(got, want) || !strings.Contains(got, unix.EPERM.Error()) {
		t.Errorf("the reader says %q, want %q and why", got, want)
	}
	if p.lost > 0 {
		t.Errorf("%d frames were lost", p.lost)
	}
	if p.ep != nil {
		p.ep.Close()
	}
}
