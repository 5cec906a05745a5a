package carriers_test

import (
	"testing"

	"github.com/openbraid/braid/internal/carriers"
	"github.com/openbraid/braid/internal/config"
)

// TestNetwork: there is one, whatever is named.
func TestNetwork(t *testing.T) {
	for _, c := range []struct {
		named []string
		want  string
	}{
		{nil, "tcp"}, {[]string{"self"}, "tcp"}, {[]string{"tcp", "self"}, "tcp"}, {[]string{"rc"}, "rc"}, {[]string{"self", "rc"}, "rc"}, {[]string{"tcp", "rc"}, "rc"},
	} {
		if got := carriers.Network(config.Node{Transports: c.named}, nil).Name(); got != c.want {
			t.Errorf("%v: %v, want %s", c.named, got, c.want)
		}
	}
}
