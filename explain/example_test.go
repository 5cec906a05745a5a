package explain_test

import (
	"context"
	"fmt"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/explain"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// What becomes of messages by their size, on an endpoint of two lanes whose thresholds are set.
func ExampleOf() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	check(err)
	defer server.Close()
	sw, err := server.NewWorker()
	check(err)
	ln, err := sw.Listen("127.0.0.1:0")
	check(err)
	set := new(braid.Settings)
	check(set.Set("transports", "tcp", "the example"))
	n, err := braid.Open(braid.Options{Settings: set, Lanes: 2, Limits: braid.Limits{ZeroCopy: 16 << 10, Stripe: 128 << 10}})
	check(err)
	defer n.Close()
	cw, err := n.NewWorker()
	check(err)
	ep, err := cw.Dial(ctx, ln.Addr())
	check(err)

	x := explain.Of(ep)
	for s := range x.Sizes(explain.AM) {
		fmt.Printf("%d bytes and more: %s, %d lanes\n", s.From, s.Protocol, len(s.Lanes))
	}
	check(ep.Close(ctx))

	// Output:
	// 0 bytes and more: eager copied, 1 lanes
	// 16384 bytes and more: eager zero-copy, 1 lanes
	// 131072 bytes and more: striped parts, 2 lanes
}
