package carriers_test

import (
	"testing"

	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/carriers"
	"github.com/openbraid/braid/internal/config"
	"github.com/openbraid/braid/transport/shm"
)

// TestNetwork: there is one, whatever is named.
func TestNetwork(t *testing.T) {
	for _, c := range []struct {
		named []string
		want  string
	}{
		{nil, "tcp"}, {[]string{"self"}, "tcp"}, {[]string{"tcp", "self"}, "tcp"}, {[]string{"rc"}, "rc"}, {[]string{"self", "rc"}, "rc"}, {[]string{"tcp", "rc"}, "rc"}, {[]string{"verbs"}, "rc"}, {[]string{"verbs", "tcp"}, "rc or tcp"},
	} {
		if got := carriers.Network(config.Node{Transports: c.named}, nil).Name(); got != c.want {
			t.Errorf("%v: %v, want %s", c.named, got, c.want)
		}
	}
}

// TestHere: shared memory, if it is named or nothing is; with faults in front of it, if those are asked for.
func TestHere(t *testing.T) {
	if shm.Prefix() == "" {
		t.Skip("no shared memory here")
	}
	for _, c := range []struct {
		named  []string
		faults *fault.Injector
		want   int
	}{
		{nil, nil, 1}, {[]string{"tcp", "shm"}, nil, 1}, {[]string{"tcp", "self"}, nil, 0}, {nil, new(fault.Injector), 1},
	} {
		if got := carriers.Here(config.Node{Transports: c.named}, c.faults); len(got) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
