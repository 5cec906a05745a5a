package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMakeDir: the last element is made, and what is there is taken as it is.
func TestMakeDir(t *testing.T) {
	here := t.TempDir()
	for range 2 {
		if err := MakeDir(filepath.Join(here, "incoming") + "/"); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := os.Stat(filepath.Join(here, "incoming")); err != nil || !st.IsDir() {
		t.Error(err)
	}
	deep := filepath.Join(here, "a", "b")
	if err := MakeDir(deep); err == nil || !strings.Contains(err.Error(), deep) || !strings.Contains(err.Error(), "mkdir -p") {
		t.Error(err)
	}
}

// TestTry: a directory in which nothing can be made is found out at the start, and named.
func TestTry(t *testing.T) {
	dir := t.TempDir()
	target, err := OpenTarget(dir, TargetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if err := target.Try(dir); err != nil {
		t.Error(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("%v was left, %v", list, err)
	}
	if err := os.Remove(dir); err != nil { // also root can make nothing in it then
		t.Fatal(err)
	}
	if err := target.Try(dir); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "name another one") {
		t.Error(err)
	}
}
