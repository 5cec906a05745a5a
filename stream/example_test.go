package stream_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/stream"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A stream in its simplest form: both sides in one process.
func Example() {
	server, err := braid.Open(braid.Options{})
	must(err)
	defer server.Close()
	sw, err := server.NewWorker()
	must(err)
	sm, err := stream.New(sw, stream.Options{})
	must(err)
	defer sm.Close()
	ln, err := sm.Listen("127.0.0.1:0")
	must(err)
	go func() {
		c, err := ln.Accept()
		must(err)
		defer c.Close()
		io.Copy(c, c) // until the other side writes no more
	}()

	client, err := braid.Open(braid.Options{})
	must(err)
	defer client.Close()
	cw, err := client.NewWorker()
	must(err)
	cm, err := stream.New(cw, stream.Options{})
	must(err)
	defer cm.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := cm.Dial(ctx, ln.Addr().String())
	must(err)
	defer c.Close()
	io.WriteString(c, "there and back")
	c.(*stream.Conn).CloseWrite()
	text, err := io.ReadAll(c)
	must(err)
	fmt.Println(string(text))
	// Output: there and back
}

// HTTP over braid: net/http as it is. The client has two lanes, and one of them is cut in the middle of an answer.
func ExampleMux_http() {
	server, err := braid.Open(braid.Options{})
	must(err)
	defer server.Close()
	sw, err := server.NewWorker()
	must(err)
	sm, err := stream.New(sw, stream.Options{})
	must(err)
	defer sm.Close()
	ln, err := sm.Listen("127.0.0.1:0")
	must(err)

	begun, cut := time.Now(), make(chan struct{})
	lanes := fault.New(func() time.Duration { return time.Since(begun) }) // a program has none: here it stands in front of the sockets
	defer lanes.Close()
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "the first half, ")
		w.(http.Flusher).Flush()
		<-cut
		io.WriteString(w, "the second half")
	})}
	go web.Serve(ln)
	defer web.Close()

	client, err := braid.Open(braid.Options{
		Rails:      []string{"127.0.0.1", "127.0.0.2"},
		Transports: []transport.Transport{tcp.New(tcp.Options{Wrapper: lanes})},
	})
	must(err)
	defer client.Close()
	cw, err := client.NewWorker()
	must(err)
	cm, err := stream.New(cw, stream.Options{})
	must(err)
	defer cm.Close()
	browser := http.Client{Transport: &http.Transport{DialContext: cm.DialContext}, Timeout: 30 * time.Second}
	defer browser.CloseIdleConnections()

	answer, err := browser.Get("http://" + ln.Addr().String() + "/")
	must(err)
	lanes.Cut("127.0.0.1", fault.Reset, time.Second)
	close(cut)
	text, err := io.ReadAll(answer.Body)
	must(err)
	fmt.Println(answer.Status, string(text))
	// Output: 200 OK the first half, the second half
}
