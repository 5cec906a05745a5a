package main

import (
	"context"
	"fmt"
	"os"

	"github.com/openbraid/braid/bench/datagrams"
	"github.com/openbraid/braid/bench/echo"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/bench/web"
)

// netConn is the latency of the standard library's connections: half of a round trip of 8 bytes, in microseconds.
func (b *bench) netConn(ctx context.Context) (float64, error) { return b.twoEnds(ctx) }

// bareSockets is that of sockets that are polled, one call to send and one or more to receive: what no library can go below.
func (b *bench) bareSockets(ctx context.Context) (float64, error) {
	return b.twoEnds(ctx, echo.Bare+"=1")
}

// twoEnds runs this program as the two ends of a connection. What they do there follows from env: echoStream, echoWeb, echoDatagrams, or a ping-pong.
func (b *bench) twoEnds(ctx context.Context, env ...string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, rival.RunWithin)
	defer cancel()
	return echo.Ends(ctx, b.cpuA, b.cpuB, env...)
}

// play plays one of the roles.
func play(e echo.End) error {
	if v := os.Getenv(echoWeb); v != "" {
		return web.End(v, e.Addr, func(v any) { fmt.Println(v) })
	}
	var s *streaming
	if v := os.Getenv(echoStream); v != "" {
		var err error
		if s, err = parseStreaming(v); err != nil {
			return err
		}
	}
	c, err := e.Connect()
	if err != nil {
		return err
	}
	if e.Client {
		defer c.Close()
	}
	datagram := os.Getenv(echoDatagrams)
	switch {
	case datagram != "":
		return datagrams.End(datagram, c, e.Client)
	case s != nil && e.Client:
		return s.client(c)
	case s != nil:
		return s.server(c)
	}
	return e.PingPong(c)
}
