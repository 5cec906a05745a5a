package braid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/openbraid/braid"
)

// A counter that hands out numbers, and a lock, in a server's memory. The server's program has nothing to do with either, and may use both.
func ExampleEndpoint_Word64() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	check(err)
	defer server.Close()
	mem, err := server.Alloc(16)
	check(err)
	sw, err := server.NewWorker()
	check(err)
	ln, err := sw.Listen("127.0.0.1:0")
	check(err)
	mem.Word64(0).Add(100) // its own, atomic to what peers do
	key := mem.Key(braid.Atomic)

	ep, err := braid.Dial(ctx, ln.Addr())
	check(err)
	number, lock := ep.Word64(key, 0), ep.Word64(key, 8)
	first, err := number.FetchAdd(ctx, 1) // nobody else gets this one, whatever lanes do
	check(err)
	second, err := number.FetchAdd(ctx, 1)
	check(err)
	fmt.Println(first, second)

	const me = 7
	holder, err := lock.CompareSwap(ctx, 0, me)
	check(err)
	fmt.Println("the lock was free:", holder == 0)
	holder, err = lock.CompareSwap(ctx, 0, 8)
	check(err)
	fmt.Println("now it is held by", holder)
	_, err = lock.Swap(ctx, 0)
	check(err)

	check(number.Add(ctx, 10)) // sent; done when a flush says so
	check(ep.Flush(ctx))
	fmt.Println(mem.Load64(0))
	check(ep.Close(ctx))

	// Output:
	// 100 101
	// the lock was free: true
	// now it is held by 7
	// 112
}
