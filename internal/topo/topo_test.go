package topo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name           string
		first          Path
		rails, remotes []string
		limit, want    int
		paths          []Path
	}{
		{"one address, no rails", Path{"", "127.0.0.1:7"}, nil, []string{"127.0.0.1:7"}, 0, 0, []Path{{"", "127.0.0.1:7"}}},
		{"two addresses, no rails", Path{"", "127.0.0.1:7"}, nil, []string{"127.0.0.1:7", "127.0.0.2:7"}, 0, 0,
			[]Path{{"", "127.0.0.1:7"}, {"", "127.0.0.2:7"}}},
		{"two rails, two addresses", Path{"127.0.0.1", "127.0.0.1:7"}, []string{"127.0.0.1", "127.0.0.2"}, []string{"127.0.0.1:7", "127.0.0.2:7"}, 0, 0,
			[]Path{{"127.0.0.1", "127.0.0.1:7"}, {"127.0.0.2", "127.0.0.2:7"}}},
		{"two rails, one address", Path{"10.0.0.1", "10.0.0.9:7"}, []string{"10.0.0.1", "10.1.0.1"}, []string{"10.0.0.9:7"}, 0, 0,
			[]Path{{"10.0.0.1", "10.0.0.9:7"}, {"10.1.0.1", "10.0.0.9:7"}}},
		{"the peer's loopback is not ours", Path{"", "10.0.0.9:7"}, nil, []string{"10.0.0.9:7", "127.0.0.1:7"}, 0, 0, []Path{{"", "10.0.0.9:7"}}},
		{"families don't mix", Path{"10.0.0.1", "10.0.0.9:7"}, []string{"10.0.0.1"}, []string{"10.0.0.9:7", "[fe80::1]:7"}, 0, 0, []Path{{"10.0.0.1", "10.0.0.9:7"}}},
		{"limit", Path{"", "127.0.0.1:7"}, nil, []string{"127.0.0.1:7", "127.0.0.2:7"}, 1, 0, []Path{{"", "127.0.0.1:7"}}},
		{"more lanes than paths", Path{"", "127.0.0.1:7"}, nil, []string{"127.0.0.1:7"}, 0, 3, []Path{{"", "127.0.0.1:7"}, {"", "127.0.0.1:7"}, {"", "127.0.0.1:7"}}},
	} {
		if d := cmp.Diff(c.paths, Paths(c.first, c.rails, c.remotes, c.limit, c.want)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
