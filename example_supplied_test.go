package braid_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"time"

	"github.com/openbraid/braid"
)

// A large message for which the handler supplies the memory: an active message says what comes, and the handler receives the payload from who has sent it. It
// goes straight to where the handler wants it, over all lanes, and not before somebody does.
func ExampleMessage_Endpoint_supplied() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	node, err := braid.Open(braid.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	server, err := node.NewWorker()
	check(err)
	const blob, payload = 1, 1 // the message, and the tag of what it announces
	received := make(chan int)
	server.HandleAM(blob, func(m *braid.Message) {
		size := binary.LittleEndian.Uint64(m.Header())
		memory := make([]byte, min(size, 64<<20)) // a peer says any number
		m.Endpoint().PostRecvTag(memory, payload, braid.ExactTag).Then(func(info braid.TagInfo, err error) {
			check(err)
			received <- info.Len
		})
	})
	address, err := server.Address()
	check(err)

	client, err := node.NewWorker()
	check(err)
	ep, err := client.Connect(ctx, address)
	check(err)
	large := make([]byte, 10<<20)
	check(ep.SendAM(ctx, blob, binary.LittleEndian.AppendUint64(nil, uint64(len(large))), nil))
	sent := ep.PostTag(payload, large)
	fmt.Println(<-received, "bytes")
	check(sent.Wait(ctx))
	check(ep.Close(ctx))
	// Output: 10485760 bytes
}
