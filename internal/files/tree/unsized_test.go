package tree

import (
	"os"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/files/dialogue"
)

// TestUnsizedLimit: what can't be held is an error that says what to do, and no part of it is sent.
func TestUnsizedLimit(t *testing.T) {
	const path = "/proc/kallsyms"
	if b, err := os.ReadFile(path); err != nil || len(b) <= dialogue.PieceBytes {
		t.Skipf("needs a long %s: it has %d bytes, %v", path, len(b), err)
	}
	if s, err := Scan(t.Context(), []string{path}, nil); err == nil || s != nil || !strings.Contains(err.Error(), "braid send - --name kallsyms ADDR < "+path) {
		t.Error(s, err)
	}
}

// TestUnsizedAll: all that is held together has a limit, too.
func TestUnsizedAll(t *testing.T) {
	s, err := Scan(t.Context(), []string{"/proc/version"}, nil)
	if err != nil {
		t.Skip("needs /proc/version: ", err)
	}
	defer s.Close()
	if s.held != len(s.Held(0)) || s.held == 0 {
		t.Errorf("%d bytes are held, %d of them of the file", s.held, len(s.Held(0)))
	}
	s.held = unsizedAll
	s.List[0].Size = 0
	if err := s.measure(&s.tops[0], "", 0); err == nil {
		t.Error("there is no limit")
	}
}
