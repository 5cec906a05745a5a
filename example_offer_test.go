package braid_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log"
	"time"

	"github.com/openbraid/braid"
)

// hosted is a worker of a new node that has a peer: the node is to be closed by the caller.
func hosted(ctx context.Context) (*braid.Node, *braid.Worker, *braid.Endpoint) {
	node, err := braid.Open(braid.Options{})
	if err != nil {
		log.Fatal(err)
	}
	server, err := node.NewWorker()
	check(err)
	address, err := server.Address()
	check(err)
	client, err := node.NewWorker()
	check(err)
	ep, err := client.Connect(ctx, address)
	check(err)
	return node, server, ep
}

// A large message for which the handler supplies the memory: it runs when the header is there, and the payload goes straight to where it wants it, over all lanes. What it does not
// want it leaves alone, and the sender is told.
func ExampleWorker_HandleOffer() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	node, server, ep := hosted(ctx)
	defer node.Close()
	const blob = 1
	received := make(chan int, 1)
	server.HandleOffer(blob, func(m *braid.Message) {
		if m.Size() > 64<<20 { // a peer says any number
			return
		}
		memory := make([]byte, m.Size())
		name := string(m.Header()) // which is the library's after the handler
		m.PostRecv(memory).Then(func(err error) {
			check(err)
			fmt.Println(name, "has come")
			received <- len(memory)
		})
	})
	check(ep.OfferAM(ctx, blob, []byte("a picture"), make([]byte, 10<<20)))
	fmt.Println(<-received, "bytes")
	err := ep.OfferAM(ctx, blob, []byte("a film"), make([]byte, 65<<20))
	fmt.Println(err != nil)
	check(ep.Close(ctx))
	// Output:
	// a picture has come
	// 10485760 bytes
	// true
}

// A message of any size, looked at as it arrives, with a mebibyte of memory.
func ExampleMessage_Chunks() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	node, server, ep := hosted(ctx)
	defer node.Close()
	const entries = 1
	sums := make(chan string, 1)
	server.HandleOffer(entries, func(m *braid.Message) { // of a Shared worker: it may take its time
		sum := sha256.New()
		for piece, err := range m.Chunks(ctx, make([]byte, 1<<20)) {
			check(err)
			sum.Write(piece)
		}
		sums <- fmt.Sprintf("%x", sum.Sum(nil)[:4])
	})
	payload := make([]byte, 70<<20)
	for i := range payload {
		payload[i] = byte(i)
	}
	check(ep.OfferAM(ctx, entries, nil, payload))
	want := sha256.Sum256(payload)
	fmt.Println(<-sums == fmt.Sprintf("%x", want[:4]))
	check(ep.Close(ctx))
	// Output: true
}
