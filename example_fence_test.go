package braid_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/openbraid/braid"
)

// Data, and a flag behind it: put, fence, put. Who sees the flag sees the data, over any number of lanes and while they come and go. Nothing
// here waits for the network but the reader.
func ExampleEndpoint_Fence() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	check(err)
	defer server.Close()
	sw, err := server.NewWorker()
	check(err)
	ln, err := sw.Listen("127.0.0.1:0")
	check(err)
	mem, err := server.Alloc(1<<20 + 8)
	check(err)
	key := mem.Key(braid.Write)
	const flag = 1 << 20 // its offset

	client, err := braid.Open(braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}}) // two lanes
	check(err)
	defer client.Close()
	cw, err := client.NewWorker()
	check(err)
	ep, err := cw.Dial(ctx, ln.Addr())
	check(err)
	data := bytes.Repeat([]byte{7}, 1<<20)
	sent := ep.PostPut(data, key, 0)
	ep.Fence() // at once; Worker.Fence does it for all endpoints of a worker
	ep.PostPut(binary.NativeEndian.AppendUint64(nil, 1), key, flag).Release()

	for mem.Load64(flag) != 1 { // what a reader at the server does
		time.Sleep(100 * time.Microsecond)
	}
	fmt.Println("all of the data is there:", bytes.Equal(mem.Bytes()[:1<<20], data))

	check(sent.Wait(ctx)) // data may be used again
	check(ep.Flush(ctx))  // a fence says in which order; a flush, when
	check(ep.Close(ctx))

	// Output: all of the data is there: true
}

// The same in one operation, which keeps nothing else in order: three parts are put by whoever is first, each counts itself when it is there,
// and the reader waits for the third.
func ExampleEndpoint_PutSignal() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	check(err)
	defer server.Close()
	sw, err := server.NewWorker()
	check(err)
	ln, err := sw.Listen("127.0.0.1:0")
	check(err)
	mem, err := server.Alloc(1 << 20)
	check(err)
	counter, err := server.Alloc(8)
	check(err)

	ep, err := braid.Dial(ctx, ln.Addr())
	check(err)
	const part = 1 << 18
	arrived := braid.Signal{Key: counter.Key(braid.Write), Value: 1, Add: true}
	for i := range uint64(3) {
		check(ep.PutSignal(ctx, bytes.Repeat([]byte{byte(i + 1)}, part), mem.Key(braid.Write), i*part, arrived))
	}

	for counter.Load64(0) < 3 {
		time.Sleep(100 * time.Microsecond)
	}
	fmt.Println(mem.Bytes()[0], mem.Bytes()[part], mem.Bytes()[2*part])
	check(ep.Close(ctx))

	// Output: 1 2 3
}

// A flush of a part of what is under way: of one memory, of the lanes that one names, or only until buffers may be used again.
func ExampleEndpoint_FlushWith() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	check(err)
	defer server.Close()
	sw, err := server.NewWorker()
	check(err)
	ln, err := sw.Listen("127.0.0.1:0")
	check(err)
	bulk, err := server.Alloc(16 << 20)
	check(err)
	state, err := server.Alloc(8)
	check(err)

	client, err := braid.Open(braid.Options{Rails: []string{"127.0.0.1", "127.0.0.2"}})
	check(err)
	defer client.Close()
	cw, err := client.NewWorker()
	check(err)
	ep, err := cw.Dial(ctx, ln.Addr())
	check(err)
	much := make([]byte, 16<<20)
	ep.PostPut(much, bulk.Key(braid.Write), 0).Release()
	ep.PostPut(binary.NativeEndian.AppendUint64(nil, 42), state.Key(braid.Write), 0).Release()

	check(ep.FlushWith(ctx, braid.FlushOptions{Memory: state.Key(braid.Write)})) // perhaps long before the bulk
	fmt.Println("the state is", state.Load64(0))

	check(ep.FlushWith(ctx, braid.FlushOptions{Sent: true})) // much may be used again, wherever its bytes are
	clear(much)

	lane := ep.Lanes()[0] // by Instance: a lane that comes back has another one
	check(ep.FlushWith(ctx, braid.FlushOptions{Lanes: []string{lane.Instance}}))
	check(ep.Close(ctx))

	// Output: the state is 42
}
