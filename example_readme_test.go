package braid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/openbraid/braid"
)

// serve calls heard with each text that a peer says.
func serve(w *braid.Worker, addr string, heard func(string)) (*braid.Listener, error) {
	w.HandleAM(1, func(m *braid.Message) { heard(string(m.Payload())) })
	return w.Listen(addr)
}

// say tells a peer something: once, whatever lanes do meanwhile, or it returns an error that says what became of it.
func say(ctx context.Context, w *braid.Worker, addr, text string) error {
	ep, err := w.Dial(ctx, addr)
	if err != nil {
		return err
	}
	if err := ep.SendAM(ctx, 1, nil, []byte(text)); err != nil {
		ep.Abort()
		return err
	}
	return ep.Close(ctx) // the peer has it
}

// The README's program, with both sides in one process.
func Example_useItInYourProgram() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	check(err)
	defer server.Close()
	client, err := braid.Open(braid.Options{})
	check(err)
	defer client.Close()

	heard := make(chan string, 1)
	sw, err := server.NewWorker()
	check(err)
	ln, err := serve(sw, "127.0.0.1:0", func(text string) { heard <- text })
	check(err)
	cw, err := client.NewWorker()
	check(err)
	check(say(ctx, cw, ln.Addr(), "hello"))
	fmt.Println(<-heard)

	// Output: hello
}
