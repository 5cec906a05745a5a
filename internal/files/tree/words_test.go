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
)

// TestScanEnds: a look at a large tree ends when who asked for it has enough.
func TestScanEnds(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "d/a", "d/e/b")
	enough := errors.New("enough")
	ctx, end := context.WithCancelCause(t.Context())
	end(enough)
	if s, err := Scan(ctx, []string{filepath.Join(dir, "d")}, nil); s != nil || !errors.Is(err, enough) {
		t.Error(s, err)
	}
}

// TestSourceWords: errors about what is sent say what to do, and name no system call that nobody made.
func TestSourceWords(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "d/gone")
	path := filepath.Join(dir, "d")
	s, err := Scan(t.Context(), []string{path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Remove(filepath.Join(path, "gone")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.File(1); err == nil || err.Error() != path+"/gone was removed while it was sent: nothing was kept; send it again when nobody changes what is there" {
		t.Error(err)
	}
	denied := &fs.PathError{Op: "openat", Path: "e/f", Err: unix.EACCES} // root may read all
	if err := s.in(&s.tops[0], denied); !errors.Is(err, fs.ErrPermission) || err.Error() != "open "+path+"/e/f: permission denied: let this user read it; all is sent, or nothing" {
		t.Error(err)
	}
	if err := s.in(&top{path: "f"}, &fs.PathError{Op: "open", Path: "f", Err: unix.EACCES}); !strings.HasPrefix(err.Error(), "open f: permission denied: let") {
		t.Error(err)
	}
}

// TestBarred: the directory that things arrive in was removed, or is full. The folder of unfinished files is nothing that a sender knows.
func TestBarred(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	target, err := OpenTarget(dir, TargetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	_, err = target.Stage(t.Context(), want(t, "a"))
	if err == nil || !strings.Contains(err.Error(), "start the receiver again") || strings.Contains(err.Error(), stagePrefix) {
		t.Error(err)
	}
	for cause, says := range map[error]string{unix.ENOSPC: "make room there", unix.EACCES: "let its user write there"} {
		if err := barred(&fs.PathError{Op: "mkdirat", Path: ".braid-1", Err: cause}); !errors.Is(err, cause) || !strings.Contains(err.Error(), says) {
			t.Error(err)
		}
	}
}
