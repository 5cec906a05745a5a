package braid_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/openbraid/braid"
)

// The messages of calls. A header is the number of its call.
const (
	callUpper = iota + 1
	callLength
	answered
	refused
)

// caller makes calls on one endpoint, as many at a time as there are goroutines.
type caller struct {
	ep *braid.Endpoint

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan reply
}

type reply struct {
	body []byte
	err  error
}

func newCaller(w *braid.Worker) *caller {
	c := &caller{waiting: map[uint64]chan reply{}}
	take := func(m *braid.Message, a reply) {
		n := binary.LittleEndian.Uint64(m.Header())
		c.mu.Lock()
		defer c.mu.Unlock()
		if ch := c.waiting[n]; ch != nil { // nil: nobody waits any more
			ch <- a
		}
	}
	w.HandleAM(answered, func(m *braid.Message) {
		take(m, reply{body: append([]byte(nil), m.Payload()...)}) // a payload is the handler's until it returns
	})
	w.HandleAM(refused, func(m *braid.Message) { take(m, reply{err: errors.New(string(m.Payload()))}) })
	return c
}

// call sends a request, and waits for its answer. Each is executed once, over whatever lane: nothing is sent again by the caller.
func (c *caller) call(ctx context.Context, method uint16, body string) (string, error) {
	ch := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	n := c.last
	c.waiting[n] = ch
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, n)
	}()
	if err := c.ep.SendAM(ctx, method, binary.LittleEndian.AppendUint64(nil, n), []byte(body)); err != nil {
		return "", err
	}
	select {
	case a := <-ch:
		return string(a.body), a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// answering answers calls with what fn makes of their bodies. A handler posts, since it must not wait.
func answering(w *braid.Worker, id uint16, fn func([]byte) ([]byte, error)) {
	w.HandleAM(id, func(m *braid.Message) {
		n := append([]byte(nil), m.Header()...) // the library's until the answer is sent
		body, err := fn(append([]byte(nil), m.Payload()...))
		if err != nil {
			m.Endpoint().PostAM(refused, n, []byte(err.Error())).Release()
			return
		}
		m.Endpoint().PostAM(answered, n, body).Release()
	})
}

// Example_rpc is calls by active messages: a method is a message's id, and the endpoint that a request came from is where its answer goes.
func Example_rpc() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	server, err := braid.Open(braid.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	w, err := server.NewWorker()
	check(err)
	answering(w, callUpper, func(b []byte) ([]byte, error) {
		for i, c := range b {
			if 'a' <= c && c <= 'z' {
				b[i] = c - 'a' + 'A'
			}
		}
		return b, nil
	})
	answering(w, callLength, func(b []byte) ([]byte, error) {
		if len(b) == 0 {
			return nil, errors.New("nothing has no length here")
		}
		return fmt.Append(nil, len(b)), nil
	})
	ln, err := w.Listen("127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}

	client, err := braid.Open(braid.Options{Lanes: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	cw, err := client.NewWorker()
	check(err)
	c := newCaller(cw)
	if c.ep, err = cw.Dial(ctx, ln.Addr()); err != nil {
		log.Fatal(err)
	}
	defer c.ep.Close(ctx)
	fmt.Println(c.call(ctx, callUpper, "lanes"))
	fmt.Println(c.call(ctx, callLength, "lanes"))
	fmt.Println(c.call(ctx, callLength, ""))
	// Output:
	// LANES <nil>
	// 5 <nil>
	//  nothing has no length here
}
