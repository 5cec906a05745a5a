package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/openbraid/braid/bench/datagrams"
	"github.com/openbraid/braid/bench/web"
	"github.com/openbraid/braid/internal/perf/cpu"
)

// echoRole makes this program one end of a ping-pong over the standard library's connections: "cpu" for the server, "cpu address" for
// the client. With echoBare the two poll the sockets under them, with nothing but the system calls; with echoStream (stream.go) data goes one way.
const (
	echoRole = "BRAID_BENCH_ECHO"
	echoBare = "BRAID_BENCH_BARE"
)

const (
	echoTrips = 4000
	echoWarm  = 400
	echoBytes = 8
)

// netConn is the latency of the standard library's connections: half of a round trip of 8 bytes, in microseconds.
func (b *bench) netConn(ctx context.Context) (float64, error) { return b.twoEnds(ctx) }

// bareSockets is that of sockets that are polled, one call to send and one or more to receive: what no library can go below.
func (b *bench) bareSockets(ctx context.Context) (float64, error) {
	return b.twoEnds(ctx, echoBare+"=1")
}

// twoEnds runs this program as the two ends of a connection, and reads what the client prints: one number.
func (b *bench) twoEnds(ctx context.Context, env ...string) (float64, error) {
	env = append(os.Environ(), env...)
	ctx, cancel := context.WithTimeout(ctx, runWithin)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	server := exec.CommandContext(ctx, self)
	server.Env = append(slices.Clone(env), echoRole+"="+b.cpuB)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("the echo server: %w", err)
	}
	client := exec.CommandContext(ctx, self)
	client.Env = append(slices.Clone(env), echoRole+"="+b.cpuA+" "+strings.TrimSpace(addr))
	client.Stderr = os.Stderr
	text, err := client.Output()
	if err != nil {
		return 0, err
	}
	var us float64
	_, err = fmt.Sscan(string(text), &us)
	return us, err
}

// echo plays one of the roles.
func echo(role string) error {
	on, addr, isClient := strings.Cut(role, " ")
	if err := cpu.HoldAll(on); err != nil {
		return err
	}
	var s *streaming
	if v := os.Getenv(echoStream); v != "" {
		var err error
		if s, err = parseStreaming(v); err != nil {
			return err
		}
	}
	if v := os.Getenv(echoWeb); v != "" {
		return web.End(v, addr, func(v any) { fmt.Println(v) })
	}
	stream := os.Getenv(echoDatagrams)
	if isClient {
		dialed, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		defer dialed.Close()
		if stream != "" {
			return datagrams.End(stream, dialed, true)
		}
		if s != nil {
			return s.client(dialed)
		}
		return echoClient(dialed)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	accepted, err := ln.Accept()
	if err != nil {
		return err
	}
	if stream != "" {
		return datagrams.End(stream, accepted, false)
	}
	if s != nil {
		return s.server(accepted)
	}
	c, err := overEcho(accepted)
	if err != nil {
		return err
	}
	buf := make([]byte, echoBytes)
	for {
		if _, err := io.ReadFull(c, buf); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if _, err := c.Write(buf); err != nil {
			return err
		}
	}
}

func echoClient(dialed net.Conn) error {
	c, err := overEcho(dialed)
	if err != nil {
		return err
	}
	buf := make([]byte, echoBytes)
	times := make([]time.Duration, 0, echoTrips)
	for i := range echoWarm + echoTrips {
		begun := time.Now()
		if _, err := c.Write(buf); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			return err
		}
		if i >= echoWarm {
			times = append(times, time.Since(begun))
		}
	}
	slices.Sort(times)
	fmt.Println(float64(times[len(times)/2]) / 2 / 1e3)
	return nil
}

// overEcho is what the ping-pong goes over.
func overEcho(c net.Conn) (io.ReadWriter, error) {
	if os.Getenv(echoBare) == "" {
		return c, nil
	}
	return bare(c.(*net.TCPConn))
}
