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

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/echo"
	"github.com/openbraid/braid/bench/rival"
)

// echoStream makes the two ends of the ping-pong (netconn.go) those of a stream: "size warm count each congestion". The client sends one
// buffer again and again, the server receives into one buffer, and when all of it is there it answers with a byte; with each > 0 so many
// times, too, and the client waits for that: its buffers are lent until then.
const echoStream = "BRAID_BENCH_STREAM"

// streaming is what is sent one way over bare sockets.
type streaming struct {
	size, warm, count, each int
	congestion              string // the system's default if empty
}

func parseStreaming(v string) (*streaming, error) {
	s := new(streaming)
	n, err := fmt.Sscan(v, &s.size, &s.warm, &s.count, &s.each, &s.congestion)
	if n == 4 && (err == io.EOF || err == io.ErrUnexpectedEOF) {
		err = nil
	}
	if err == nil && (s.size < 1 || s.warm < 0 || s.count < 1 || s.each < 0) {
		err = fmt.Errorf("out of range")
	}
	if err != nil {
		return nil, fmt.Errorf("%s=%q: %w", echoStream, v, err)
	}
	return s, nil
}

func (s *streaming) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %d %d %d %s", s.size, s.warm, s.count, s.each, s.congestion))
}

// socketsBW is the bandwidth of sockets that are polled, in MB/s, for the operations of a load of braid's: each a send of its own. A library goes
// beyond only by sending several at once, as braid does with small ones.
func (b *bench) socketsBW(l rival.Load, congestion string) duel.Runner {
	return b.socketsAnswered(l, congestion, 0)
}

// socketsAnswered is the same with an answer after each so many operations, which is waited for.
func (b *bench) socketsAnswered(l rival.Load, congestion string, each int) duel.Runner {
	s := streaming{size: l.Size, warm: l.Warm(), count: l.Iters, each: each, congestion: congestion}
	return func(ctx context.Context) (float64, error) {
		return b.twoEnds(ctx, echoStream+"="+s.String())
	}
}

// open is one end.
func (s *streaming) open(c net.Conn) (io.ReadWriter, error) {
	t := c.(*net.TCPConn)
	if s.congestion != "" {
		if err := echo.Congest(t, s.congestion); err != nil {
			return nil, fmt.Errorf("congestion control %q: %w", s.congestion, err)
		}
	}
	return echo.Polled(t)
}

// answers says whether the server answers operation i of a run.
func (s *streaming) answers(i int) bool { return s.each > 0 && (i+1)%s.each == 0 }

func (s *streaming) client(dialed net.Conn) error {
	c, err := s.open(dialed)
	if err != nil {
		return err
	}
	buf, answer := make([]byte, s.size), [1]byte{}
	var took time.Duration
	for _, count := range []int{s.warm, s.count} {
		begun := time.Now()
		for i := range count {
			if _, err := c.Write(buf); err != nil {
				return err
			}
			if s.answers(i) {
				if _, err := io.ReadFull(c, answer[:]); err != nil {
					return err
				}
			}
		}
		if _, err := io.ReadFull(c, answer[:]); err != nil {
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
		for i := range count {
			if _, err := io.ReadFull(c, buf); err != nil {
				return err
			}
			if s.answers(i) {
				if _, err := c.Write(buf[:1]); err != nil {
					return err
				}
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

// lentWindow is 32 messages of 16 KiB: what the default window of a stream lends to the transport at a time.
const lentWindow = 32 * 16 * rival.KiB

// againstSockets are the comparisons with sockets without any library, and of those with themselves.
func (b *bench) againstSockets() []duel.Comparison {
	lat := rival.Load{Test: "am_lat", Size: echo.Bytes, Iters: 20_000, Pick: rival.P50}
	list := []duel.Comparison{{Name: "sockets/8", Unit: "us", Goal: duel.Goal{}, Ours: b.braid(lat), Theirs: b.bareSockets, Peer: "bare sockets"}}
	for _, size := range []int{64 * rival.KiB, rival.MiB, 16 * rival.MiB} {
		l := rival.Bulk("am_bw", size)
		list = append(list, duel.Comparison{
			Name: "sockets_bw/" + rival.SizeName(size), Unit: "MB/s", Goal: duel.Goal{}, Ours: b.braid(l), Theirs: b.socketsBW(l, withinHost), Peer: "bare sockets, " + withinHost,
		})
	}
	w := rival.Load{Test: "am_bw", Size: lentWindow, Iters: 4096}
	list = append(list, duel.Comparison{
		Name: "sockets_answered/" + rival.SizeName(lentWindow), Unit: "MB/s", Goal: duel.Goal{},
		Ours: b.socketsAnswered(w, withinHost, 1), Theirs: b.socketsBW(w, withinHost), Peer: "no answers",
	})
	l := rival.Bulk("am_bw", rival.MiB)
	return append(list, duel.Comparison{
		Name: "sockets_reno/1MiB", Unit: "MB/s", Goal: duel.Goal{}, Ours: b.socketsBW(l, withinHost), Theirs: b.socketsBW(l, ""), Peer: "bare sockets, " + defaultCongestion(),
	})
}
