package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openbraid/braid/internal/files/dialogue"
)

// lay makes files: a name that ends with a slash is a directory.
func lay(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		path := filepath.Join(dir, n)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if strings.HasSuffix(n, "/") {
			err = errors.Join(err, os.MkdirAll(path, 0o755))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte("old "+filepath.Base(n)), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// seen is what is in a directory: files with what is in them.
func seen(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			out = append(out, rel+"/")
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out = append(out, rel+"="+string(b))
		default:
			out = append(out, rel+"?")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

// want is the list of names as it would be sent: files say what they are called.
func want(t *testing.T, names ...string) (list []dialogue.Entry) {
	t.Helper()
	dirs := map[string]uint32{"": dialogue.Top}
	var l dialogue.Lister
	for i, n := range names {
		n, dir := strings.CutSuffix(n, "/")
		parent, name := "", n
		if at := strings.LastIndex(n, "/"); at >= 0 {
			parent, name = n[:at], n[at+1:]
		}
		e := dialogue.Entry{Parent: dirs[parent], Name: name, Dir: dir, Mode: 0o640, Time: 1e18}
		if dir {
			dirs[n], e.Mode = uint32(i), 0o750
		} else {
			e.Size = uint64(len("new " + name))
		}
		if err := l.Take(&e); err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// arrive stages a list, writes its files, and commits.
func arrive(t *testing.T, target *Target, list []dialogue.Entry) error {
	t.Helper()
	s, err := target.Stage(t.Context(), list)
	if err != nil {
		return err
	}
	defer s.Discard()
	if err := write(s, list); err != nil {
		return err
	}
	return errors.Join(s.Fill(t.Context()), s.Commit())
}

func write(s *Stage, list []dialogue.Entry) error {
	for i, e := range list {
		if e.Dir {
			continue
		}
		if err := s.Write(dialogue.Extent{File: i, Length: int(e.Size), Whole: true, End: true}, []byte("new "+e.Name)); err != nil {
			return err
		}
	}
	return nil
}

func open(t *testing.T, dir string, o TargetOptions) *Target {
	t.Helper()
	target, err := OpenTarget(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close() })
	return target
}

func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		name      string
		here      []string
		comes     []string
		overwrite bool
		refused   string // what it says; "": it arrives
		there     string
	}{
		{"into nothing", nil, []string{"a", "d/", "d/b", "d/e/", "d/e/c"}, false, "", "a=new a d/ d/b=new b d/e/ d/e/c=new c"},
		{"beside others", []string{"x", "d/"}, []string{"a"}, false, "", "a=new a d/ x=old x"},
		{"into a directory", []string{"d/x"}, []string{"d/", "d/a", "d/e/", "d/e/c"}, false, "", "d/ d/a=new a d/e/ d/e/c=new c d/x=old x"},
		{"a file exists", []string{"a", "b"}, []string{"a", "c"}, false, `"a" exists there`, "a=old a b=old b"},
		{"many exist", []string{"d/1", "d/2", "d/3", "d/4", "d/5"}, []string{"d/", "d/1", "d/2", "d/3", "d/4", "d/5"}, false, `"d/3" and 2 more exist`, ""},
		{"overwrite", []string{"a", "d/b", "d/x"}, []string{"a", "d/", "d/b", "d/c"}, true, "", "a=new a d/ d/b=new b d/c=new c d/x=old x"},
		{"a file where a directory is", []string{"a/x"}, []string{"a"}, true, `"a" is a directory there`, "a/ a/x=old x"},
		{"a directory where a file is", []string{"d"}, []string{"d/", "d/a"}, true, `"d" is a file there`, "d=old d"},
		{"deep in it", []string{"d/e/f"}, []string{"d/", "d/e/", "d/e/f/", "d/e/f/g"}, true, `"d/e/f" is a file there`, "d/ d/e/ d/e/f=old f"},
		{"a name of ours", nil, []string{".braid-0123456789abcdef/", ".braid-0123456789abcdef/a"}, true, "unfinished files", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, c.here...)
			err := arrive(t, open(t, dir, TargetOptions{Overwrite: c.overwrite, Sync: true}), want(t, c.comes...))
			var refused *dialogue.RefusedError
			switch {
			case c.refused == "" && err != nil, c.refused != "" && !errors.As(err, &refused):
				t.Fatal(err)
			case c.refused != "" && !strings.Contains(err.Error(), c.refused):
				t.Errorf("%q does not say %q", err, c.refused)
			}
			if got := seen(t, dir); got != c.there && c.there != "" {
				t.Errorf("%s\nwant %s", got, c.there)
			}
		})
	}
}

// TestLinksLeadNowhere: links that are in the directory already, to places outside and inside of it.
func TestLinksLeadNowhere(t *testing.T) {
	out, dir := t.TempDir(), t.TempDir()
	lay(t, out, "a", "sub/")
	lay(t, dir, "real/x")
	for name, to := range map[string]string{"out": out, "file": filepath.Join(out, "a"), "in": "real", "none": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	target := open(t, dir, TargetOptions{Overwrite: true})
	for _, comes := range [][]string{{"out/", "out/a"}, {"file"}, {"in/", "in/y"}, {"none"}, {"out"}} {
		var refused *dialogue.RefusedError
		if err := arrive(t, target, want(t, comes...)); !errors.As(err, &refused) || !strings.Contains(err.Error(), "is a link there") {
			t.Errorf("%v: %v", comes, err)
		}
	}
	if got := seen(t, out) + " " + seen(t, dir); got != "a=old a sub/ file? in? none? out? real/ real/x=old x" {
		t.Error(got)
	}
}

func TestPermissionsAndTimes(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	dir := t.TempDir()
	lay(t, dir, "d/")
	was, _ := os.Stat(filepath.Join(dir, "d"))
	list := want(t, "a", "d/", "d/n/", "d/n/b")
	list[0].Mode, list[2].Mode = 0o666, 0o555
	if err := arrive(t, open(t, dir, TargetOptions{}), list); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "d/n"), 0o755)
	for name, mode := range map[string]fs.FileMode{"a": 0o666, "d/n": fs.ModeDir | 0o555, "d/n/b": 0o640} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != mode || info.ModTime().UnixNano() != 1e18 {
			t.Errorf("%s: %v %v %v", name, info.Mode(), info.ModTime(), err)
		}
	}
	if info, _ := os.Stat(filepath.Join(dir, "d")); info.Mode() != was.Mode() {
		t.Errorf("a directory that was there has become %v", info.Mode())
	}
}

// TestRaces: what comes into being between the look and the end is not replaced.
func TestRaces(t *testing.T) {
	for _, c := range []struct {
		comes     []string
		meanwhile string
		overwrite bool
		placed    int
		there     string
	}{
		{[]string{"a"}, "a", false, 0, "a=old a"},
		{[]string{"d/", "d/b"}, "d/x", false, 0, "d/ d/x=old x"},
		{[]string{"a", "b", "c"}, "b", false, 1, "a=new a b=old b"},
		{[]string{"a"}, "a", true, -1, "a=new a"},
		{[]string{"a"}, "a/x", true, 0, "a/ a/x=old x"},
	} {
		dir := t.TempDir()
		list := want(t, c.comes...)
		s, err := open(t, dir, TargetOptions{Overwrite: c.overwrite}).Stage(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(s, list); err != nil {
			t.Fatal(err)
		}
		lay(t, dir, c.meanwhile)
		err = s.Commit()
		s.Discard()
		var partly *PartlyError
		switch {
		case (c.placed < 0) != (err == nil), errors.As(err, &partly) != (c.placed > 0):
			t.Errorf("%v beside %s: %v", c.comes, c.meanwhile, err)
		case partly != nil && partly.Placed != c.placed:
			t.Errorf("%v beside %s: %d placed, not %d", c.comes, c.meanwhile, partly.Placed, c.placed)
		}
		if got := seen(t, dir); got != c.there {
			t.Errorf("%v beside %s: %s, want %s", c.comes, c.meanwhile, got, c.there)
		}
	}
}

// TestTwoAtATime: a name belongs to one transfer until that ends.
func TestTwoAtATime(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir, TargetOptions{})
	s, err := target.Stage(t.Context(), want(t, "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	var refused *dialogue.RefusedError
	if _, err := target.Stage(t.Context(), want(t, "b", "c")); !errors.As(err, &refused) {
		t.Error(err)
	}
	if err := arrive(t, target, want(t, "c")); err != nil {
		t.Error(err)
	}
	s.Discard()
	if err := arrive(t, target, want(t, "b")); err != nil {
		t.Error(err)
	}
	if got := seen(t, dir); got != "b=new b c=new c" {
		t.Error(got)
	}
}

// TestNothingIsLeft: after a discard at any moment, and after a crash at the next start; but not while somebody still receives.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir, TargetOptions{})
	list := want(t, "a", "d/", "d/b")
	s, err := target.Stage(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(dialogue.Extent{File: 2, Length: 3}, []byte("new")); err != nil {
		t.Fatal(err)
	}
	lay(t, dir, ".braid-0123456789abcdef/x", ".braid-mine", ".braid-0123/x", ".braid-0123456789abcdeg/x")
	open(t, dir, TargetOptions{})
	if got := seen(t, dir); !strings.Contains(got, s.folder+"/d/b=new") || strings.Contains(got, "abcdef/") || !strings.Contains(got, ".braid-mine") ||
		!strings.Contains(got, ".braid-0123/x") || !strings.Contains(got, ".braid-0123456789abcdeg/x") {
		t.Error(got)
	}
	s.Discard()
	if got := seen(t, dir); strings.Contains(got, s.folder) {
		t.Error(got)
	}
}

// TestParts: a file of several parts is complete when all are there, in whatever order; so is one that says its end.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	list := want(t, "a", "b", "c")
	list[0].Size, list[1].Size, list[2].Size = 6, 0, 0
	s, err := open(t, dir, TargetOptions{}).Stage(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		file, at int
		text     string
		end      bool
	}{{0, 4, "56", true}, {2, 3, "45", true}, {0, 0, "1234", false}, {2, 0, "123", false}} {
		if err := s.Write(dialogue.Extent{File: p.file, Offset: uint64(p.at), Length: len(p.text), End: p.end}, []byte(p.text)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.open) != 0 {
		t.Errorf("%d files are open yet", len(s.open))
	}
	if err := errors.Join(s.Fill(t.Context()), s.Commit()); err != nil {
		t.Fatal(err)
	}
	s.Discard()
	if got := seen(t, dir); got != "a=123456 b= c=12345" {
		t.Error(got)
	}
}

func TestScan(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "d/b", "d/a.b/x", "d/a/x", "d/empty/", "f", "other/f", ".braid-x")
	if err := errors.Join(os.Symlink("b", filepath.Join(dir, "d/link")), syscall.Mkfifo(filepath.Join(dir, "d/pipe"), 0o600), os.Symlink("d", filepath.Join(dir, "ld")),
		os.Chmod(filepath.Join(dir, "f"), 0o4711|fs.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(dir, n))
		}
		return paths
	}
	s, err := Scan(t.Context(), in("ld", "f"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var l dialogue.Lister
	var names, skipped []string
	for i := range s.List {
		if err := l.Take(&s.List[i]); err != nil {
			t.Error(err)
		}
		names = append(names, dialogue.Path(s.List, i))
	}
	for _, k := range s.Skipped {
		rel, _ := filepath.Rel(dir, k.Path)
		skipped = append(skipped, rel+" "+k.Why)
	}
	if got := strings.Join(names, " "); got != "f ld ld/a ld/a/x ld/a.b ld/a.b/x ld/b ld/empty" {
		t.Error(got)
	}
	if !slices.Equal(skipped, []string{"ld/link a link", "ld/pipe a pipe"}) {
		t.Error(skipped)
	}
	if s.List[0].Mode != 0o711 {
		t.Errorf("%#o", s.List[0].Mode)
	}
	for i, name := range names {
		if s.List[i].Dir {
			continue
		}
		f, err := s.File(i)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b := make([]byte, 100); true {
			if n, _ := f.Read(b); string(b[:n]) != "old "+filepath.Base(name) || s.Changed(i, f) {
				t.Errorf("%s: %q", name, b[:n])
			}
		}
		f.Close()
		if rel, _ := filepath.Rel(dir, s.Name(i)); rel != name {
			t.Errorf("%s is called %s", name, rel)
		}
	}
	for says, paths := range map[string][]string{
		"no such file":       in("nothing"),
		"both be called f":   in("f", "other/f"),
		"unfinished":         in(".braid-x"),
		"only files and dir": in("d/pipe"),
		"has no name":        {"/"},
	} {
		if _, err := Scan(t.Context(), paths, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", paths, err)
		}
	}
}

// TestScanFails: with nothing left open.
func TestScanFails(t *testing.T) {
	dir := t.TempDir()
	if s, err := Scan(t.Context(), []string{dir}, &Stream{Name: "x"}); err == nil || s != nil || !strings.Contains(err.Error(), "sent alone") {
		t.Error(s, err)
	}
}

// TestSourceChanges: between the scan and the reading.
func TestSourceChanges(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, "d/grows", "d/gone", "d/link", "d/pipe", "d/short")
	if err := os.WriteFile(filepath.Join(dir, "d/empty"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Scan(t.Context(), []string{filepath.Join(dir, "d")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := func(name string) string { return filepath.Join(dir, "d", name) }
	time.Sleep(10 * time.Millisecond)
	if err := errors.Join(os.WriteFile(at("grows"), []byte("much longer than before"), 0o644), os.Remove(at("gone")), os.Remove(at("link")), os.Symlink("/etc/passwd", at("link")),
		os.Remove(at("empty")), syscall.Mkfifo(at("empty"), 0o644), // as long as before, and no file
		os.Remove(at("pipe")), syscall.Mkfifo(at("pipe"), 0o644), os.Truncate(at("short"), 1)); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(s.List); i++ {
		f, err := s.File(i)
		if name := s.List[i].Name; name == "grows" {
			if err != nil || !s.Changed(i, f) {
				t.Error(err)
			}
			f.Close()
		} else if err == nil {
			t.Errorf("%s can be opened", name)
		}
	}
}
