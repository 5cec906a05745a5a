package catalog_test

import (
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/perf/catalog"
)

// TestTable: each is found by its name and by that of ucx_perftest, says what it is, and the one that a latency points to is there.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range catalog.Names() {
		x, err := catalog.Lookup(n[0])
		y, ucp := catalog.Lookup("ucp_" + n[0])
		if err != nil || ucp != nil || x != y || x.Name != n[0] || seen[n[0]] || n[1] == "" || x.Window < 1 {
			t.Errorf("%s: %+v, %v, %v", n[0], x, err, ucp)
		}
		seen[n[0]] = true
		if b, err := catalog.Lookup(x.Bandwidth()); err != nil || b.Latency || x.Latency != strings.HasSuffix(n[0], "_lat") || b.Put != x.Put || b.Tag != x.Tag || b.Stream != x.Stream || b.Sync != x.Sync || b.Offer != x.Offer {
			t.Errorf("%s: its bandwidth is %+v, %v", n[0], b, err)
		}
	}
	if _, err := catalog.Lookup("am_lot"); err == nil || !strings.Contains(err.Error(), "put_lat, put_bw") {
		t.Errorf("%v", err)
	}
	if _, err := catalog.Lookup(""); err == nil || !strings.Contains(err.Error(), "which test?") {
		t.Errorf("%v", err)
	}
}
