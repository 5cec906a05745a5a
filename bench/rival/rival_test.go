package rival

import (
	"context"
	"net"
	"testing"

	"github.com/openbraid/braid/internal/perf/cpu"
)

func TestParseUCX(t *testing.T) {
	r, err := parseUCX("iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n20000,0.804,2.490,2.500,3.06,100.00,401526,401527\n")
	if err != nil || r.Iterations != 20000 || r.Latency.P50 != 0.804 || r.Latency.Avg != 2.5 || r.Bandwidth != 104.8576 || r.Rate != 401527 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []string{"", "20000,1,2", "a,b,c,d,e,f,g,h"} {
		if _, err := parseUCX(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// Whether the server of UCX is there is read from the system's table: by a bind of one's own its bind would fail now and then.
func TestListens(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:5BA0 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0000000000000000 100 0 0 10 0
   1: 0100007F:5BA1 0100007F:5BA0 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0000000000000000 100 0 0 10 0
`
	for port, want := range map[string]bool{"23456": true, "23457": false, "5": false, "": false} {
		if got := taken(table, port); got != want {
			t.Errorf("port %q: %v", port, got)
		}
	}
	if !cpu.CanPin {
		t.Skip("the system's table of sockets is Linux's")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	ended := make(chan struct{})
	close(ended)
	if err := listens(context.Background(), port, ended); err != nil {
		t.Error(err)
	}
	ln.Close()
	if err := listens(context.Background(), port, ended); err == nil {
		t.Error("nobody listens any more")
	}
}
