package landing

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// TestReceive: what is offered is handed on with its header, in memory that is used again; what came whole is left to the caller.
func TestReceive(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	n, err := braid.Open(braid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	server, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	var f Field
	type got struct {
		head, body string
		at         *byte
	}
	came := make(chan got, 1)
	server.HandleOffer(1, func(m *braid.Message) {
		if f.Receive(m, func(head, body []byte) { came <- got{string(head), string(body), &body[0]} }) {
			came <- got{string(m.Header()), string(m.Payload()), nil}
		}
	})
	a, err := server.Address()
	if err != nil {
		t.Fatal(err)
	}
	client, err := n.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	ep, err := client.Connect(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	var at *byte
	for i, size := range []int{3 << 20, 10, 2 << 20, 3 << 20} {
		body := bytes.Repeat([]byte{byte(i)}, size)
		if err := ep.OfferAM(ctx, 1, []byte{byte(i)}, body); err != nil {
			t.Fatal(err)
		}
		g := <-came
		if g.head != string([]byte{byte(i)}) || g.body != string(body) || (g.at == nil) != (size == 10) {
			t.Errorf("message %d of %d bytes came as %q, %d bytes", i, size, g.head, len(g.body))
		}
		if size == 10 {
			continue
		}
		if at != nil && g.at != at {
			t.Error("memory is made anew")
		}
		at = g.at
	}
}
