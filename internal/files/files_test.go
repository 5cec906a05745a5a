package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// receiver is a server under test.
type receiver struct {
	addr    string
	dir     string
	stop    context.CancelFunc
	ended   chan error
	reports chan Report
}

// tidy fails the test if goroutines are left.
func tidy(t testing.TB) {
	t.Helper()
	o := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, o) })
}

var rails = []string{"127.0.0.1", "127.0.0.2"}

func receive(t testing.TB, o ReceiveOptions) *receiver {
	t.Helper()
	r := &receiver{dir: o.Dir, ended: make(chan error, 1), reports: make(chan Report, 1000)}
	if r.dir == "" {
		r.dir = t.TempDir()
	}
	o.Dir, o.Listen = r.dir, "127.0.0.1:0"
	if o.Node.Rails == nil {
		o.Node.Rails = rails
	}
	bound := make(chan string, 1)
	o.Listening = func(a []string) { bound <- a[0] }
	if o.Report == nil {
		o.Report = func(x Report) { r.reports <- x }
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- Receive(ctx, o) }()
	select {
	case r.addr = <-bound:
	case err := <-r.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		select {
		case <-r.ended:
		case <-time.After(20 * time.Second):
			t.Error("the receiver does not end")
		}
	})
	return r
}

// over waits until the receiver ends by itself, and returns its error.
func (r *receiver) over(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ended:
		r.ended <- nil
		return err
	case <-time.After(time.Minute):
		t.Fatal("the receiver does not end")
		return nil
	}
}

// end stops the receiver, and returns its error.
func (r *receiver) end(t *testing.T) error {
	t.Helper()
	r.stop()
	return r.over(t)
}

// outcome is the error of the next transfer that ends.
func (r *receiver) outcome(t *testing.T) error {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case x := <-r.reports:
			if x.Ended {
				return x.Err
			}
		case <-late:
			t.Fatal("no transfer ended")
		}
	}
}

// empty: nothing is in a directory.
func empty(t *testing.T, dir string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func send(t *testing.T, r *receiver, paths ...string) (*Summary, error) {
	t.Helper()
	return sendAs(t, SendOptions{Addr: r.addr, Paths: paths})
}

func sendAs(t testing.TB, o SendOptions) (*Summary, error) {
	t.Helper()
	if o.Node.Rails == nil {
		o.Node.Rails = rails
	}
	s, err := NewSender(t.Context(), o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return s.Run(ctx)
}

// plant makes files of the given sizes in a new directory.
func plant(t *testing.T, sizes map[string]int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	luck := rand.NewChaCha8([32]byte{1})
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, size := range sizes {
		path := filepath.Join(dir, name)
		b := make([]byte, size)
		_, _ = luck.Read(b)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, b, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// digest is of all names, kinds, permissions, times and bytes below a directory; nothing of the receiver's own may be left in it.
func digest(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if strings.Contains(rel, ".braid-") {
			t.Errorf("%s was left", path)
		}
		fmt.Fprintf(&b, "%s %v %d", rel, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			sum := sha256.New()
			if _, err := io.Copy(sum, f); err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sum.Sum(nil))
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// same compares what was sent with what arrived.
func same(t *testing.T, from, to string) {
	t.Helper()
	if a, b := digest(t, from), digest(t, to); a != b {
		t.Errorf("sent:\n%s\narrived:\n%s", a, b)
	}
}

func TestTree(t *testing.T) {
	tidy(t)
	dir := plant(t, map[string]int{
		"a": 0, "b": 1, "sub/c": 1<<20 - 1, "sub/d": 1 << 20, "sub/deep/e": 1<<20 + 1, "sub/deep/f": 5<<20 + 17, "z/z": 300, "z/y": 70_000,
	})
	for i := range 700 {
		os.WriteFile(filepath.Join(dir, "z", fmt.Sprintf("s%03d", i)), bytes.Repeat([]byte{byte(i)}, i), 0o600)
	}
	old := time.Unix(1_000_000_000, 123_456_789)
	for name, mode := range map[string]fs.FileMode{"b": 0o4755, "sub/c": 0o400, "z": 0o555, "a": 0o666} {
		if err := errors.Join(os.Chtimes(filepath.Join(dir, name), old, old), os.Chmod(filepath.Join(dir, name), mode&0o777)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "z"), 0o755) })
	os.Mkdir(filepath.Join(dir, "empty"), 0o700)
	r := receive(t, ReceiveOptions{})
	sum, err := send(t, r, dir)
	if err != nil {
		t.Fatal(err)
	}
	same(t, dir, filepath.Join(r.dir, "tree"))
	if sum.Files != 708 || sum.Dirs != 5 {
		t.Errorf("%+v", sum)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(r.dir, "tree", "z"), 0o755) })
	if err := r.end(t); err != nil {
		t.Error(err)
	}
}
