package web

import (
	"context"
	"testing"
	"time"
)

// TestEnds: each kind of run asks for what it gets.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, proto := range []string{"http", "grpc"} {
		for _, by := range []string{"braid", "tcp"} {
			r := Run{proto, by, lat}
			n, err := network(by)
			if err != nil {
				t.Fatal(err)
			}
			ln, err := n.listen()
			if err != nil {
				t.Fatal(err)
			}
			go r.serve(ln)
			call, done, err := r.client(ln.Addr().String(), n)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{small, bulk} {
				if err := call(ctx, size); err != nil {
					t.Errorf("%v of %d: %v", r, size, err)
				}
			}
			done()
			ln.Close()
		}
	}
	if err := End("http", "", nil); err == nil {
		t.Error("half a run is taken")
	}
}
