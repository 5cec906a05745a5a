package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnsized: files that the system makes when they are read arrive as they are read, whatever size they say to have: alone, and in a directory.
func TestUnsized(t *testing.T) {
	tidy(t)
	r := receive(t, ReceiveOptions{})
	for _, path := range []string{"/proc/version", "/proc/sys/fs/epoll", "/sys/kernel/mm/transparent_hugepage"} {
		if _, err := os.Stat(path); err != nil {
			t.Logf("not here: %v", err)
			continue
		}
		before := made(t, path)
		if _, err := send(t, r, path); err != nil {
			t.Error(err)
			continue
		}
		some := 0
		for name, want := range made(t, path) {
			got, err := os.ReadFile(filepath.Join(r.dir, filepath.Base(path), strings.TrimPrefix(name, path)))
			some += len(got)
			changed := want != before[name] // a counter of the system's: it may have been anything between
			if err != nil || string(got) != want && !(changed && len(got) > 0) {
				t.Errorf("%s: %q, want %q, %v", name, got, want, err)
			}
		}
		if some == 0 {
			t.Errorf("%s: nothing has arrived", path)
		}
	}
}

// made is what the files below a path say when they are read.
func made(t *testing.T, path string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.Walk(path, func(name string, info os.FileInfo, err error) error {
		if err != nil || !info.Mode().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		texts[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
