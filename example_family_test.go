package braid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openbraid/braid"
)

// ends are two endpoints that are connected, with the workers behind them, in one process so that the examples run.
func ends(ctx context.Context) (server *braid.Node, from, to *braid.Endpoint, stop func()) {
	server, err := braid.Open(braid.Options{})
	check(err)
	client, err := braid.Open(braid.Options{Lanes: 2})
	check(err)
	sw, err := server.NewWorker()
	check(err)
	ln, err := sw.Listen("127.0.0.1:0")
	check(err)
	cw, err := client.NewWorker()
	check(err)
	from, err = cw.Dial(ctx, ln.Addr())
	check(err)
	to, err = ln.Accept(ctx)
	check(err)
	return server, from, to, func() {
		check(from.Close(ctx))
		check(client.Close())
		check(server.Close())
	}
}

// A message has a header and a payload, and runs a handler of the peer's, which may answer. One that is wanted for longer than the handler runs is retained.
func ExampleEndpoint_SendAM() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	const store, stored = 1, 2
	_, from, to, stop := ends(ctx)
	kept := make(chan *braid.Message, 1)
	to.Worker().HandleAM(store, func(m *braid.Message) {
		m.Endpoint().PostAM(stored, m.Header(), nil).Release() // a handler can't wait, and need not
		m.Retain()
		kept <- m // the message is who takes it's from now on
	})
	done := make(chan string, 1)
	from.Worker().HandleAM(stored, func(m *braid.Message) { done <- string(m.Header()) })

	check(from.SendAM(ctx, store, []byte("name"), []byte("what is in it")))
	fmt.Println("stored:", <-done)
	m := <-kept
	fmt.Printf("%s: %s\n", m.Header(), m.Payload())
	m.Release()
	stop()

	// Output:
	// stored: name
	// name: what is in it
}

// A get reads the peer's memory, and the peer's program has no part in it. Under a key without the right it fails.
func ExampleEndpoint_Get() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, from, _, stop := ends(ctx)
	mem, err := server.Register([]byte("the peer's memory"))
	check(err)

	b := make([]byte, 6)
	check(from.Get(ctx, b, mem.Key(braid.Read), 11))
	fmt.Printf("%s\n", b)
	err = from.Get(ctx, b, mem.Key(braid.Write), 11)
	fmt.Println("with a key for writing:", errors.Is(err, braid.ErrAccess))
	stop()

	// Output:
	// memory
	// with a key for writing: true
}

// A tagged message is received by who asks for its tag. Of the mask those bits count that are set: here the upper half says what it is, the lower one who sent it.
func ExampleWorker_RecvTag() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	const request, reply, kind = 1 << 32, 2 << 32, 0xffffffff << 32
	_, from, to, stop := ends(ctx)
	check(from.SendTag(ctx, reply|7, []byte("a reply")))
	check(from.SendTag(ctx, request|7, []byte("a request")))

	b := make([]byte, 64)
	info, err := to.Worker().RecvTag(ctx, b, request, kind) // from any endpoint, from anybody
	check(err)
	fmt.Printf("%s from %d\n", b[:info.Len], info.Tag&^kind)
	info, err = to.RecvTag(ctx, b[:3], reply|7, braid.ExactTag) // from this endpoint, and too little room
	fmt.Printf("%s of %d bytes: %v\n", b[:3], info.Len, errors.Is(err, braid.ErrTruncated))
	stop()

	// Output:
	// a request from 7
	// a r of 7 bytes: true
}

// Who doesn't know how large a message will be takes it first, and then gives it room. The payload of a large one stays with its sender until then.
func ExampleWorker_NextTag() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, from, to, stop := ends(ctx)
	sent := from.PostTag(5, make([]byte, 1<<20))

	m, err := to.Worker().NextTag(ctx, 0, braid.AnyTag)
	check(err)
	b := make([]byte, m.Len)
	_, err = m.Recv(ctx, b)
	check(err)
	check(sent.Wait(ctx))
	fmt.Println(m.Tag, len(b))
	stop()

	// Output: 5 1048576
}

// A synchronous send is done when the message has met its receive: until then there is somebody who has not asked yet.
func ExampleEndpoint_PostTagSync() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, from, to, stop := ends(ctx)
	r := from.PostTagSync(1, []byte("is anybody there?"))
	done, err := r.Test()
	check(err)
	fmt.Println("wanted:", done)

	b := make([]byte, 64)
	_, err = to.RecvTag(ctx, b, 1, braid.ExactTag)
	check(err)
	check(r.Wait(ctx))
	fmt.Println("received")
	stop()

	// Output:
	// wanted: false
	// received
}

// What is posted may be taken back. One that is no longer wanted by anybody ends with ErrCanceled, and its buffer is never touched again.
func ExampleRequest_Cancel() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, _, to, stop := ends(ctx)
	r := to.PostRecvTag(make([]byte, 64), 1, braid.ExactTag)
	r.Cancel()
	_, err := r.Wait(ctx)
	fmt.Println(errors.Is(err, braid.ErrCanceled))
	stop()

	// Output: true
}

// A flush waits until all that was posted is executed at the peer. Its error says of how many operations nobody can know any more.
func ExampleEndpoint_Flush() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, from, _, stop := ends(ctx)
	mem, err := server.Alloc(8 * 1000)
	check(err)
	key := mem.Key(braid.Write)
	for i := range uint64(1000) {
		check(from.Put(ctx, []byte{1, 0, 0, 0, 0, 0, 0, 0}, key, 8*i)) // sent, and on any lane
	}
	check(from.Flush(ctx)) // there
	fmt.Println(mem.Load64(0), mem.Load64(8*999))
	stop()

	// Output: 1 1
}
