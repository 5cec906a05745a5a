package textfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRead: files, as far as asked for.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("something"), 0o600); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int]string{100: "something", 9: "something", 4: "somet"} {
		if f, err := Read(path, most); err != nil || string(f.Text) != want {
			t.Errorf("%d: %q, %v", most, f.Text, err)
		}
	}
	for name, want := range map[string]string{path + "x": "no such file", filepath.Dir(path): "a directory"} {
		if _, err := Read(name, 10); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), name) {
			t.Error(err)
		}
	}
}

// pipe is a named one.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPipe: what is written to a pipe is read to its end, also if who writes comes late.
func TestPipe(t *testing.T) {
	path := pipe(t)
	go func() {
		time.Sleep(3 * lookEvery)
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return // the test says so
		}
		_, _ = w.WriteString("some")
		time.Sleep(3 * lookEvery)
		_, _ = w.WriteString("thing")
		w.Close()
	}()
	if f, err := Read(path, 100); err != nil || string(f.Text) != "something" || f.Private() != nil {
		t.Errorf("%q, %v", f.Text, err)
	}
}

// TestPipeOfNobody: nobody writes, or who does never ends. Both are waited for, and not for ever.
func TestPipeOfNobody(t *testing.T) {
	path := pipe(t)
	if _, err := read(path, 100, 5*lookEvery); err == nil || !strings.Contains(err.Error(), "nobody wrote") {
		t.Error(err)
	}
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteString("half of it"); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path, 100, 5*lookEvery); err == nil || !strings.Contains(err.Error(), "not all of it") {
		t.Error(err)
	}
}

// TestPrivate: who may hold a secret.
func TestPrivate(t *testing.T) {
	for mode, ok := range map[fs.FileMode]bool{
		0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o700: true,
		0o644: false, 0o604: false, 0o660: false, 0o622: false, 0o666: false, 0o602: false, 0o601: false, 0o444: false,
	} {
		if err := private(mode, 7, 7); ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	for _, c := range []struct {
		owner, me uint32
		ok        bool
	}{{7, 7, true}, {0, 7, true}, {0, 0, true}, {7, 0, true}, {8, 7, false}} {
		if err := private(0o640, c.owner, c.me); c.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "belongs to user 8") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
