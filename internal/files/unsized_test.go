package files

import (
	"bytes"
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
		if _, err := send(t, r, path); err != nil {
			t.Error(err)
			continue
		}
		some := 0
		err := filepath.Walk(path, func(name string, info os.FileInfo, err error) error {
			if err != nil || !info.Mode().IsRegular() {
				return err
			}
			want, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			got, err := os.ReadFile(filepath.Join(r.dir, filepath.Base(path), strings.TrimPrefix(name, path)))
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %q, want %q, %v", name, got, want, err)
			}
			some += len(want)
			return nil
		})
		if err != nil || some == 0 {
			t.Errorf("%s: %d bytes, %v", path, some, err)
		}
	}
}
