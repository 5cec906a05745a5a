package files

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
)

func TestStreams(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{})
	for name, size := range map[string]int{"empty": 0, "one": 1, "exact": 2 << 20, "odd": 3<<20 + 5} {
		data := bytes.Repeat([]byte("braid"), size/5+1)[:size]
		sum, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: bytes.NewReader(data), Name: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil || !bytes.Equal(got, data) || sum.Bytes != uint64(size) || sum.Files != 1 {
			t.Errorf("%s: %d bytes, %v, %+v", name, len(got), err, sum)
		}
	}
}

// TestPaths: several of them, in one transfer.
func TestPaths(t *testing.T) {
	tidy(t)
	dir := plant(t, map[string]int{"f": 10, "d/g": 2 << 20, "d/h/i": 3})
	r := receive(t, ReceiveOptions{Node: braid.Options{Rails: []string{"127.0.0.1"}}})
	if _, err := send(t, r, filepath.Join(dir, "f"), filepath.Join(dir, "d")+"/"); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"f", "d/g", "d/h/i"} {
		a, _ := os.ReadFile(filepath.Join(dir, n))
		if b, err := os.ReadFile(filepath.Join(r.dir, n)); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: %v", n, err)
		}
	}
}

// TestRefusals: the sender learns why, nothing arrives, nothing that was there is touched, and the receiver goes on.
func TestRefusals(t *testing.T) {
	tidy(t)
	dir := plant(t, map[string]int{"a": 100, "b": 1000})
	r := receive(t, ReceiveOptions{MaxBytes: 5000, MaxFiles: 3})
	if err := os.WriteFile(filepath.Join(r.dir, "a"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Mkdir(filepath.Join(r.dir, "b"), 0o700)
	big, many := plant(t, map[string]int{"big": 6000}), plant(t, map[string]int{"1": 1, "2": 2, "3": 3})
	for says, path := range map[string]string{
		"--overwrite":                 filepath.Join(dir, "a"),
		"\"b\" is a directory there":  filepath.Join(dir, "b"),
		"raise --max-bytes":           filepath.Join(big, "big"),
		"raise --max-files":           many,
		"the receiver refuses: \"a\"": filepath.Join(dir, "a"),
	} {
		_, err := send(t, r, path)
		var told *PeerError
		if !errors.As(err, &told) || told.Code != dialogue.Refused || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
	stream := SendOptions{Addr: r.addr, Stdin: bytes.NewReader(make([]byte, 2<<20)), Name: "s"}
	if _, err := sendAs(t, stream); err == nil || !strings.Contains(err.Error(), "max-bytes") {
		t.Error(err)
	}
	if got := digest(t, r.dir); strings.Count(got, "\n") != 3 {
		t.Error(got)
	}
	if b, _ := os.ReadFile(filepath.Join(r.dir, "a")); string(b) != "mine" {
		t.Errorf("%q", b)
	}
	if _, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: strings.NewReader("x"), Name: "x"}); err != nil {
		t.Error("it does not go on: ", err)
	}
}

func TestOverwrite(t *testing.T) {
	tidy(t)
	dir := plant(t, map[string]int{"a": 100})
	r := receive(t, ReceiveOptions{Overwrite: true, Sync: true})
	for range 2 {
		if _, err := send(t, r, dir); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(r.dir, "tree", "a"), []byte("old"), 0o600)
	}
	if _, err := send(t, r, dir); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(filepath.Join(dir, "a"))
	if b, _ := os.ReadFile(filepath.Join(r.dir, "tree", "a")); !bytes.Equal(a, b) {
		t.Errorf("%d bytes", len(b))
	}
}

// TestInterrupts: whoever is stopped in the middle, the other one learns of it, and nothing is left.
func TestInterrupts(t *testing.T) {
	tidy(t)
	for _, who := range []string{"sender", "receiver"} {
		r := receive(t, ReceiveOptions{})
		g := newGate(5<<20, 5<<20)
		s, err := NewSender(t.Context(), SendOptions{Addr: r.addr, Stdin: g, Name: "stream", Node: braid.Options{Rails: rails}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(context.Background())
		defer stop(nil)
		go func() {
			<-g.reached
			if who == "sender" {
				stop(errors.New("by hand"))
			} else {
				r.stop()
			}
		}()
		_, err = s.Run(ctx)
		close(g.open)
		s.Close()
		var told *PeerError
		if who == "sender" {
			if !errors.Is(err, ErrInterrupted) {
				t.Errorf("%s: %v", who, err)
			}
			if err := r.outcome(t); !errors.As(err, &told) || told.Code != dialogue.Interrupted || err.Error() != "the sender was stopped" {
				t.Errorf("%s: %v", who, err)
			}
		} else {
			if !errors.As(err, &told) || told.Code != dialogue.Interrupted || err.Error() != "the receiver was stopped" {
				t.Errorf("%s: %v", who, err)
			}
			if err := r.end(t); !errors.Is(err, ErrInterrupted) {
				t.Errorf("%s: %v", who, err)
			}
		}
		empty(t, r.dir)
	}
}

// TestOnce: the first that offers something decides; another one meanwhile is told.
func TestOnce(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{Once: true})
	g := newGate(3<<20, 1)
	ended := make(chan error, 1)
	go func() {
		_, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: g, Name: "first"})
		ended <- err
	}()
	<-g.reached
	_, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: strings.NewReader("x"), Name: "second"})
	var told *PeerError
	if !errors.As(err, &told) || told.Code != dialogue.Busy {
		t.Error(err)
	}
	close(g.open)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := r.over(t); err != nil {
		t.Error(err)
	}
	g.check(t, filepath.Join(r.dir, "first"))
}

// TestOnceThatFails: its end is the receiver's.
func TestOnceThatFails(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{Once: true, MaxBytes: 10})
	dir := plant(t, map[string]int{"a": 100})
	if _, err := send(t, r, dir); err == nil {
		t.Error("it was sent")
	}
	var refused *dialogue.RefusedError
	if err := r.over(t); !errors.As(err, &refused) {
		t.Error(err)
	}
	empty(t, r.dir)
}

// TestSeveralAtATime: as many as are allowed, and one more.
func TestSeveralAtATime(t *testing.T) {
	tidy(t)
	const clients = 3
	r := receive(t, ReceiveOptions{Clients: clients})
	var gates [clients]*gate
	ended := make(chan error, clients)
	for i := range gates {
		g := newGate(2<<20, 2<<20)
		gates[i] = g
		go func() {
			_, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: g, Name: string(rune('a' + i))})
			ended <- err
		}()
	}
	for _, g := range gates {
		<-g.reached
	}
	if _, err := sendAs(t, SendOptions{Addr: r.addr, Stdin: strings.NewReader("x"), Name: "x"}); err == nil || !strings.Contains(err.Error(), "3 others") {
		t.Error(err)
	}
	for _, g := range gates {
		close(g.open)
	}
	for range gates {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for i, g := range gates {
		g.check(t, filepath.Join(r.dir, string(rune('a'+i))))
	}
}

// TestFullDisk: both sides say so, and nothing is left.
func TestFullDisk(t *testing.T) {
	tidy(t)
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "braid-test", dir).CombinedOutput(); err != nil {
		skip(t, "needs root, to mount a small file system: %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	r := receive(t, ReceiveOptions{Dir: dir})
	_, err := send(t, r, plant(t, map[string]int{"a": 1 << 20, "b": 20 << 20}))
	var told *PeerError
	if !errors.As(err, &told) || told.Code != dialogue.Failed {
		t.Error(err)
	}
	// Pieces of both are under way at once: either may be the one that finds the disk full.
	if !regexp.MustCompile(`"tree/[ab]": no space left on device: make room there; nothing of it was kept$`).MatchString(err.Error()) {
		t.Error(err)
	}
	if err := r.outcome(t); err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Error(err)
	}
	empty(t, dir)
	if _, err := send(t, r, plant(t, map[string]int{"a": 1 << 20})); err != nil {
		t.Error("it does not go on: ", err)
	}
}

// skip skips a test that can't run here, unless it must.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("BRAID_NO_SKIP") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// TestSourceShrinks: a file that becomes shorter ends the transfer on both sides.
func TestSourceShrinks(t *testing.T) {
	tidy(t)
	dir := plant(t, map[string]int{"a": 5 << 20})
	r := receive(t, ReceiveOptions{})
	s, err := NewSender(t.Context(), SendOptions{Addr: r.addr, Paths: []string{dir}, Node: braid.Options{Rails: rails}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Truncate(filepath.Join(dir, "a"), 3<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "became shorter") {
		t.Error(err)
	}
	var told *PeerError
	if err := r.outcome(t); !errors.As(err, &told) || told.Code != dialogue.Failed || !strings.Contains(err.Error(), "became shorter") {
		t.Error(err)
	}
	empty(t, r.dir)
}

// TestInterruptedBefore: who is stopped while he looks at what is to be sent says so, and does not look at the rest.
func TestInterruptedBefore(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if s, err := NewSender(ctx, SendOptions{Addr: "127.0.0.1:1", Paths: []string{filepath.Dir(t.TempDir())}}); s != nil || !errors.Is(err, ErrInterrupted) {
		t.Error(s, err)
	}
}
