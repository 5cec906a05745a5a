package braid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/openbraid/braid"
)

// Two workers exchange their addresses by a way of their own, and none of them has to listen.
func ExampleWorker_Connect() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	here, err := braid.Open(braid.Options{})
	check(err)
	defer here.Close()
	there, err := braid.Open(braid.Options{})
	check(err)
	defer there.Close()

	// One process writes its address down: into a file, a data base, an environment variable.
	server, err := there.NewWorker()
	check(err)
	address, err := server.Address()
	check(err)
	word := address.String()

	// The other one reads it, and connects.
	client, err := here.NewWorker()
	check(err)
	address, err = braid.ParseAddress(word)
	check(err)
	ep, err := client.Connect(ctx, address)
	check(err)
	question := ep.PostTag(1, []byte("who is there?"))

	buf := make([]byte, 64)
	info, err := server.RecvTag(ctx, buf, 1, braid.ExactTag)
	check(err)
	fmt.Println(string(buf[:info.Len]))
	check(info.From.SendTag(ctx, 2, []byte("me"))) // who is to be answered comes with the message
	check(question.Wait(ctx))

	info, err = ep.RecvTag(ctx, buf, 2, braid.ExactTag)
	check(err)
	fmt.Println(string(buf[:info.Len]))
	check(ep.Close(ctx))
	// Output:
	// who is there?
	// me
}
