package braid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/openbraid/braid"
)

// check is what a program does with an error; this one is too short to do better.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// Two nodes in one process, so that the example runs. In a program each has its own, and the packed key travels by
// whatever way the two have already. The README shows the body of this function.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	// One process: memory that others may write, and a handler that is told when to look at it.
	server, err := braid.Open(braid.Options{})
	check(err)
	defer server.Close()
	mem, err := server.Alloc(4096)
	check(err)
	seen := make(chan string, 1)
	w, err := server.NewWorker()
	check(err)
	w.HandleAM(1, func(m *braid.Message) { seen <- string(m.Payload()) + string(mem.Bytes()[:5]) })
	ln, err := w.Listen("127.0.0.1:0")
	check(err)
	packed := mem.Key(braid.Write).Bytes() // 36 bytes, to be sent to the peer by any way

	// The other: an endpoint of two lanes. Either may die at any time.
	client, err := braid.Open(braid.Options{Lanes: 2})
	check(err)
	defer client.Close()
	cw, err := client.NewWorker()
	check(err)
	ep, err := cw.Dial(ctx, ln.Addr())
	check(err)
	key, err := braid.ParseRKey(packed)
	check(err)
	check(ep.Put(ctx, []byte("hello"), key, 0))          // sent: the slice is ours again
	check(ep.Flush(ctx))                                 // executed: it is in the peer's memory
	check(ep.SendAM(ctx, 1, nil, []byte("memory has "))) // runs the peer's handler
	fmt.Println(<-seen, "over", len(ep.Lanes()), "lanes")
	check(ep.Close(ctx))

	// Output: memory has hello over 2 lanes
}

// A posted operation returns a request. Post many, then wait for the flush: it covers them all.
func ExampleEndpoint_PostPut() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	check(err)
	defer server.Close()
	w, err := server.NewWorker()
	check(err)
	ln, err := w.Listen("127.0.0.1:0")
	check(err)
	mem, err := server.Alloc(8 * 100)
	check(err)
	ep, err := braid.Dial(ctx, ln.Addr())
	check(err)

	one := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	for i := range uint64(100) {
		r := ep.PostPut(one, mem.Key(braid.Write), 8*i)
		if done, err := r.Test(); done { // small ones are, mostly: the bytes were copied
			check(err)
		}
		r.Release() // nobody waits for this one alone; the slice is the library's until the flush
	}
	check(ep.Flush(ctx))
	sum := uint64(0)
	for i := range uint64(100) {
		sum += mem.Load64(8 * i) // never torn, and no race: docs/memory.md
	}
	fmt.Println(sum)
	check(ep.Close(ctx))

	// Output: 100
}

// A handler that answers. It is set on the listener's worker before a peer can send; accepting is not needed for it.
func ExampleListener_Worker() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ln, err := braid.Listen("127.0.0.1:0")
	check(err)
	defer ln.Close()
	const ask, answer = 7, 8
	ln.Worker().HandleAM(ask, func(m *braid.Message) {
		m.Endpoint().PostAM(answer, nil, append([]byte("you said "), m.Payload()...)).Release()
	})

	ep, err := braid.Dial(ctx, ln.Addr())
	check(err)
	answers := make(chan string, 1)
	ep.Worker().HandleAM(answer, func(m *braid.Message) { answers <- string(m.Payload()) })
	check(ep.SendAM(ctx, ask, nil, []byte("hello")))
	fmt.Println(<-answers)
	check(ep.Close(ctx))

	// Output: you said hello
}
