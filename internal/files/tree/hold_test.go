package tree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/openbraid/braid/internal/files/dialogue"
)

// staged is a list that is written, and waits for its names.
func staged(t *testing.T, target *Target, names ...string) *Stage {
	t.Helper()
	list := want(t, names...)
	s, err := target.Stage(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Discard() })
	if err := errors.Join(write(s, list), s.Fill(t.Context())); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSwapped: what takes the place of a directory or a file between the look and the end is not followed, added to, or replaced.
func TestSwapped(t *testing.T) {
	for name, c := range map[string]struct {
		comes []string
		swap  func(at func(string) string) error
		there string
	}{
		"a directory by a link": {[]string{"d/", "d/a", "d/new/", "d/new/b"}, func(at func(string) string) error {
			return errors.Join(os.Rename(at("d"), at("was")), os.Symlink("other", at("d")))
		}, "d? f=old f other/ other/a=old a was/ was/x=old x"},
		"a directory by a link to itself": {[]string{"d/", "d/a"}, func(at func(string) string) error {
			return errors.Join(os.Rename(at("d"), at("was")), os.Symlink("was", at("d")))
		}, "d? f=old f other/ other/a=old a was/ was/x=old x"},
		"a directory by another": {[]string{"d/", "d/a"}, func(at func(string) string) error {
			return errors.Join(os.Rename(at("d"), at("was")), os.Mkdir(at("d"), 0o755))
		}, "d/ f=old f other/ other/a=old a was/ was/x=old x"},
		"a file by a link": {[]string{"f"}, func(at func(string) string) error {
			return errors.Join(os.Remove(at("f")), os.Symlink("other/a", at("f")))
		}, "d/ d/x=old x f? other/ other/a=old a"},
		"nothing by an empty directory": {[]string{"n/", "n/a"}, func(at func(string) string) error {
			return os.Mkdir(at("n"), 0o700)
		}, "d/ d/x=old x f=old f n/ other/ other/a=old a"},
		"nothing by a link": {[]string{"n"}, func(at func(string) string) error {
			return os.Symlink("f", at("n"))
		}, "d/ d/x=old x f=old f n? other/ other/a=old a"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, "d/x", "other/a", "f")
			s := staged(t, open(t, dir, TargetOptions{Overwrite: true}), c.comes...)
			if err := c.swap(func(n string) string { return filepath.Join(dir, n) }); err != nil {
				t.Fatal(err)
			}
			var refused *dialogue.RefusedError
			if err := s.Commit(); !errors.As(err, &refused) {
				t.Error(err)
			}
			s.Discard()
			if got := seen(t, dir); got != c.there {
				t.Errorf("%s\nwant %s", got, c.there)
			}
		})
	}
}

// TestFallbacks: without a rename that never replaces, and without links, nothing that exists is replaced either.
func TestFallbacks(t *testing.T) {
	none := func(dir, string, dir, string) error { return unix.ENOSYS }
	for _, links := range []bool{true, false} {
		dir := t.TempDir()
		target := open(t, dir, TargetOptions{})
		if target.exclusive = none; !links {
			target.link = none
		}
		if err := arrive(t, target, want(t, "a", "d/", "d/b")); err != nil {
			t.Fatal(err)
		}
		for _, comes := range [][]string{{"f"}, {"e/", "e/a"}} {
			s := staged(t, target, comes...)
			lay(t, dir, comes[0])
			var refused *dialogue.RefusedError
			if err := s.Commit(); !errors.As(err, &refused) {
				t.Errorf("links %v, %v: %v", links, comes, err)
			}
			s.Discard()
		}
		if got := seen(t, dir); got != "a=new a d/ d/b=new b e/ f=old f" {
			t.Errorf("links %v: %s", links, got)
		}
	}
}

// TestSync: files before they have their names, and each directory that has a new name in it.
func TestSync(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "old/")
	target := open(t, dir, TargetOptions{Sync: true})
	var flushed []string
	target.flush = func(f *os.File) error { flushed = append(flushed, filepath.Base(f.Name())); return nil }
	s := staged(t, target, "a", "new/", "new/b", "old/", "old/c")
	if got := strings.Join(flushed, " "); got != "a b c" {
		t.Errorf("before names: %s", got)
	}
	flushed = nil
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(flushed, " "); got != "new old ." {
		t.Errorf("after them: %s", got)
	}
	target.flush = func(*os.File) error { return unix.EIO }
	if err := arrive(t, target, want(t, "z")); !errors.Is(err, unix.EIO) {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "z")); err == nil {
		t.Error("it has its name, and is not on the disk")
	}
}

// TestStops: who is stopped does not go through the whole list.
func TestStops(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir, TargetOptions{})
	stopped, stop := context.WithCancelCause(t.Context())
	why := errors.New("by hand")
	s := staged(t, target, "a", "d/", "d/b")
	stop(why)
	if err := s.Fill(stopped); !errors.Is(err, why) {
		t.Error("fill: ", err)
	}
	s.Discard()
	if _, err := target.Stage(stopped, want(t, "a")); !errors.Is(err, why) {
		t.Error("stage: ", err)
	}
	s = &Stage{t: target, list: want(t, "d/"), dirs: map[int]fs.FileInfo{}}
	if err := s.check(stopped); !errors.Is(err, why) {
		t.Error("check: ", err)
	}
	if err := s.make(stopped); !errors.Is(err, why) {
		t.Error("make: ", err)
	}
	s.Discard()
	if got := seen(t, dir); got != "" {
		t.Error(got)
	}
}

// TestHold: a folder that was removed while somebody waited for its lock is not held.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir, TargetOptions{})
	for _, again := range []bool{false, true} {
		lay(t, dir, "x/")
		f, err := target.root.Open("x")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := os.Rename(filepath.Join(dir, "x"), filepath.Join(t.TempDir(), "x")); err != nil {
			t.Fatal(err)
		}
		if again {
			lay(t, dir, "x/")
		}
		if err := target.hold(f, "x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("again %v: %v", again, err)
		}
	}
}

// TestReservedFirst: the look comes after the names are kept, or somebody else could give them between.
func TestReservedFirst(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir, TargetOptions{})
	s := staged(t, target, "a")
	lay(t, dir, "a") // the look would say this
	if _, err := target.Stage(t.Context(), want(t, "a")); err == nil || !strings.Contains(err.Error(), "just being received") {
		t.Error(err)
	}
	s.Discard()
}

// TestLeft: what can't be removed is said.
func TestLeft(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir, TargetOptions{})
	s := staged(t, target, "a")
	target.root.Close()
	var left *LeftError
	if err := s.Discard(); !errors.As(err, &left) {
		t.Error(err)
	}
}

// TestDeep: as deep as a list may be.
func TestDeep(t *testing.T) {
	var names []string
	path := ""
	for range 256 {
		path += "d/"
		names = append(names, path)
	}
	names = append(names, path+"f")
	dir := t.TempDir()
	if err := arrive(t, open(t, dir, TargetOptions{Sync: true}), want(t, names...)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, path, "f")); err != nil {
		t.Error(err)
	}
}
