package medium_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/perf/medium"
	"github.com/openbraid/braid/rdma/verbs"
)

func TestNames(t *testing.T) {
	for name, want := range map[medium.Medium]string{
		"tcp": "", "shm+tcp": "", "rc+tcp+shm": "", "self": "within one worker", "udp": "there are tcp, shm, rc and verbs", "": "there are tcp", "tcp+": "there are tcp",
		"tcp+tcp": "twice", "shm+self": "within one worker",
	} {
		if err := name.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
	if r := medium.Medium("tcp").Rails(); !slices.Equal(r, []string{"127.0.0.1", "127.0.0.2"}) {
		t.Errorf("rails of tcp: %v", r)
	}
	if r := medium.Medium("shm+tcp+rc").Rails(); len(r) != 3 {
		t.Errorf("rails of three: %v", r)
	}
}

// TestReady: who asks for adapters hears at once why there are none.
func TestReady(t *testing.T) {
	m := medium.Medium("verbs+tcp")
	if verbs.Built {
		return
	}
	if err := m.Ready(); !errors.Is(err, verbs.ErrNotBuilt) {
		t.Errorf("%v", err)
	}
	if _, err := m.New(medium.Options{Rails: m.Rails()}); !errors.Is(err, verbs.ErrNotBuilt) {
		t.Errorf("%v", err)
	}
}

// TestRails: a mixed medium needs an address for each part.
func TestRails(t *testing.T) {
	if _, err := medium.Medium("shm+tcp").New(medium.Options{Rails: []string{"auto"}}); !errors.Is(err, medium.ErrRails) {
		t.Errorf("%v", err)
	}
	m, err := medium.Medium("shm+tcp").New(medium.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	if err != nil || m.Name() != "mix" {
		t.Errorf("%v, %v", m, err)
	}
}
