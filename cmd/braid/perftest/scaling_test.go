package perftest

import (
	"slices"
	"testing"
)

// TestAddresses: the threads of a server have the ports after its first, or those that it said; fewer than there are threads are refused.
func TestAddresses(t *testing.T) {
	for addr, want := range map[string][]string{
		"h:1": {"h:1", "h:2", "h:3"}, "[::1]:7": {"[::1]:7", "[::1]:8", "[::1]:9"}, "h:5,h:9,h:2": {"h:5", "h:9", "h:2"},
		"h:65534": nil, "h": nil, "a,b:1": nil, "a:1,b:1,c:1,d:1": nil,
	} {
		if got, err := addresses(addr, 3); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %v, %v", addr, got, err)
		}
	}
}
