package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// echoStream makes the two ends of the ping-pong (netconn.go) those of a stream: "size warm count congestion". The client sends one buffer
// again and again, the server receives into one buffer, and when all of it is there it answers with a byte.
const echoStream = "BRAID_BENCH_STREAM"

// streaming is what is sent one way over bare sockets.
type streaming struct {
	size, warm, count int
	congestion        string // the system's default if empty
}

func parseStreaming(v string) (*streaming, error) {
	s := new(streaming)
	n, err := fmt.Sscan(v, &s.size, &s.warm, &s.count, &s.congestion)
	if n == 3 && (err == io.EOF || err == io.ErrUnexpectedEOF) {
		err = nil
	}
	if err == nil && (s.size < 1 || s.warm < 0 || s.count < 1) {
		err = fmt.Errorf("out of range")
	}
	if err != nil {
		return nil, fmt.Errorf("%s=%q: %w", echoStream, v, err)
	}
	return s, nil
}

func (s *streaming) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %d %d %s", s.size, s.warm, s.count, s.congestion))
}

// socketsBW is the bandwidth of sockets that are polled, in MB/s, for the operations of a load of braid's: each a send of its own. A library goes
// beyond only by sending several at once, as braid does with small ones.
func (b *bench) socketsBW(l load, congestion string) runner {
	s := streaming{size: l.size, warm: l.warm(), count: l.iters, congestion: congestion}
	return func(ctx context.Context) (float64, error) {
		return b.twoEnds(ctx, echoStream+"="+s.String())
	}
}

// open is one end.
func (s *streaming) open(c net.Conn) (io.ReadWriter, error) {
	t := c.(*net.TCPConn)
	if s.congestion != "" {
		if err := congest(t, s.congestion); err != nil {
			return nil, fmt.Errorf("congestion control %q: %w", s.congestion, err)
		}
	}
	return bare(t)
}

func (s *streaming) client(dialed net.Conn) error {
	c, err := s.open(dialed)
	if err != nil {
		return err
	}
	buf := make([]byte, s.size)
	var took time.Duration
	for _, count := range []int{s.warm, s.count} {
		begun := time.Now()
		for range count {
			if _, err := c.Write(buf); err != nil {
				return err
			}
		}
		if _, err := io.ReadFull(c, buf[:1]); err != nil {
			return err
		}
		took = time.Since(begun)
	}
	fmt.Println(float64(s.size) * float64(s.count) / 1e6 / took.Seconds())
	return nil
}

func (s *streaming) server(accepted net.Conn) error {
	c, err := s.open(accepted)
	if err != nil {
		return err
	}
	buf := make([]byte, s.size)
	for _, count := range []int{s.warm, s.count} {
		for range count {
			if _, err := io.ReadFull(c, buf); err != nil {
				return err
			}
		}
		if _, err := c.Write(buf[:1]); err != nil {
			return err
		}
	}
	return nil
}

// defaultCongestion is what the system gives to connections.
func defaultCongestion() string {
	name, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
	if err != nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(name))
}

// withinHost is the congestion control that transport/tcp gives to connections within a host.
const withinHost = "reno"

// againstSockets are the comparisons with sockets without any library, and of those with themselves.
func (b *bench) againstSockets() []comparison {
	lat := load{test: "am_lat", size: echoBytes, iters: 20_000, pick: p50}
	list := []comparison{{name: "sockets/8", unit: "us", goal: goal{none: true}, ours: b.braid(lat), theirs: b.bareSockets, peer: "bare sockets"}}
	for _, size := range []int{64 * kib, mib, 16 * mib} {
		l := bulk("am_bw", size)
		list = append(list, comparison{
			name: "sockets_bw/" + sizeName(size), unit: "MB/s", goal: goal{none: true}, ours: b.braid(l), theirs: b.socketsBW(l, withinHost), peer: "bare sockets, " + withinHost,
		})
	}
	l := bulk("am_bw", mib)
	return append(list, comparison{
		name: "sockets_reno/1MiB", unit: "MB/s", goal: goal{none: true}, ours: b.socketsBW(l, withinHost), theirs: b.socketsBW(l, ""), peer: "bare sockets, " + defaultCongestion(),
	})
}
