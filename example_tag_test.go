package braid_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/openbraid/braid"
)

// What the tags of the work queue say.
const (
	ready  = 1 // a worker wants something to do
	task   = 2 // a number to work on; empty: there is none any more
	result = 1 << 32
)

// Example_tag is a queue of work: whoever is ready says so, gets a task, and sends its result under a tag that names the task.
func Example_tag() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	node, err := braid.Open(braid.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	w, err := node.NewWorker()
	check(err)
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	const tasks, workers = 10, 3
	var busy sync.WaitGroup
	for range workers {
		busy.Go(func() { squares(ctx, ln.Addr()) })
	}
	for next := range uint64(tasks + workers) {
		info, err := w.RecvTag(ctx, nil, ready, braid.ExactTag) // from whoever is first
		if err != nil {
			log.Fatal(err)
		}
		var b []byte
		if next < tasks {
			b = binary.LittleEndian.AppendUint64(nil, next)
		}
		if err := info.From.SendTag(ctx, task, b); err != nil {
			log.Fatal(err)
		}
	}
	for i := range uint64(tasks) { // in the order of the tasks, whoever did them and when
		var b [8]byte
		if _, err := w.RecvTag(ctx, b[:], result|i, braid.ExactTag); err != nil {
			log.Fatal(err)
		}
		fmt.Print(binary.LittleEndian.Uint64(b[:]), " ")
	}
	busy.Wait() // each has been told that there is nothing left
	// Output: 0 1 4 9 16 25 36 49 64 81
}

// squares is a worker.
func squares(ctx context.Context, addr string) {
	node, err := braid.Open(braid.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close()
	w, err := node.NewWorker()
	check(err)
	ep, err := w.Dial(ctx, addr)
	if err != nil {
		log.Fatal(err)
	}
	for {
		var b [8]byte
		if err := ep.SendTag(ctx, ready, nil); err != nil {
			log.Fatal(err)
		}
		info, err := ep.RecvTag(ctx, b[:], task, braid.ExactTag)
		if err != nil {
			log.Fatal(err)
		}
		if info.Len == 0 {
			break
		}
		n := binary.LittleEndian.Uint64(b[:])
		if err := ep.SendTag(ctx, result|n, binary.LittleEndian.AppendUint64(nil, n*n)); err != nil {
			log.Fatal(err)
		}
	}
	if err := ep.Close(ctx); err != nil { // all results are there
		log.Print(err)
	}
}
