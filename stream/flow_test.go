package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/stream"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/tcp"
)

// at is the byte at a place of a stream: of which of them there are not two the same in a row, at any distance that a mistake would shift them by.
func at(i int) byte { return byte(i ^ i>>8*31 ^ i>>16*17) }

func pattern(from, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = at(from + i)
	}
	return b
}

// check reads n bytes from a place on, in pieces of all sizes.
func check(r io.Reader, from, n int) error {
	luck := rand.New(rand.NewPCG(uint64(from), uint64(n)))
	b := make([]byte, 300<<10)
	for end := from + n; from < end; {
		k, err := r.Read(b[:min(end-from, 1+luck.IntN(1<<luck.IntN(19)))])
		if err != nil {
			return fmt.Errorf("at %d: %w", from, err)
		}
		if !bytes.Equal(b[:k], pattern(from, k)) {
			return fmt.Errorf("other bytes between %d and %d", from, from+k)
		}
		from += k
	}
	return nil
}

// TestSizes: bytes of writes of all sizes come once and in order, both ways at a time, with windows that are tight or wide.
func TestSizes(t *testing.T) {
	tidy(t)
	for window, sizes := range map[int][]int{ // a tight window costs a round trip each time
		1000:    {0, 1, 7, 1000, 16 << 10, 5},
		100_000: {16 << 10, 256<<10 - 1, 256 << 10, 1, 1<<20 + 1},
		0:       {0, 1, 7, 16<<10 - 1, 16 << 10, 64<<10 + 1, 256<<10 - 1, 256 << 10, 1<<20 + 1, 3 << 20, 100, 20 << 10, 5},
	} {
		total := 0
		for _, n := range sizes {
			total += n
		}
		o := stream.Options{Window: window}
		a, b := newPair(t, o, o).conns(t)
		var all sync.WaitGroup
		for _, c := range []*stream.Conn{a, b} {
			all.Go(func() {
				sent := 0
				for _, n := range sizes {
					p := pattern(sent, n)
					if k, err := c.Write(p); k != n || err != nil {
						t.Errorf("wrote %d of %d, %v", k, n, err)
					}
					clear(p) // it is ours again
					sent += n
				}
				c.CloseWrite()
			})
			all.Go(func() {
				if err := check(c, 0, total); err != nil {
					t.Error(err)
				}
				if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
					t.Errorf("behind the end: %d bytes, %v", n, err)
				}
			})
		}
		all.Wait()
	}
}

// TestCopy: io.Copy in and out, by ReadFrom and WriteTo.
func TestCopy(t *testing.T) {
	tidy(t)
	const n = 5<<20 + 3
	a, b := newPair(t, stream.Options{}, stream.Options{}).conns(t)
	go func() {
		if k, err := io.Copy(a, onlyReader{bytes.NewReader(pattern(0, n))}); k != n || err != nil {
			t.Errorf("sent %d, %v", k, err)
		}
		a.Close()
	}()
	var got bytes.Buffer
	if k, err := io.Copy(&got, b); k != n || err != nil {
		t.Errorf("got %d, %v", k, err)
	}
	if !bytes.Equal(got.Bytes(), pattern(0, n)) {
		t.Error("other bytes")
	}
}

// onlyReader has no WriteTo, which io.Copy would prefer.
type onlyReader struct{ io.Reader }

// TestUnreadStream: a stream that nobody reads stops its own writer when its window is full, and nobody else; it holds no more than the window; and
// all of it can still be read.
func TestUnreadStream(t *testing.T) {
	tidy(t)
	const window = 64 << 10 // does not grow, since nobody reads
	p := newPair(t, stream.Options{}, stream.Options{})
	stuck, unread := p.conns(t)
	sent := 0
	stuck.SetWriteDeadline(time.Now().Add(50 * time.Millisecond))
	for {
		n, err := stuck.Write(pattern(sent, 10_000))
		sent += n
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			break
		}
	}
	if sent != window {
		t.Errorf("%d bytes were taken that nobody reads, want %d", sent, window)
	}
	a, b := p.conns(t)
	go a.Write(pattern(0, 4<<20))
	if err := check(b, 0, 4<<20); err != nil {
		t.Error(err)
	}
	stuck.SetWriteDeadline(time.Time{})
	go func() {
		stuck.Write(pattern(sent, 1<<20))
		stuck.Close()
	}()
	if err := check(unread, 0, sent+1<<20); err != nil {
		t.Error(err)
	}
}

// TestInterruptedWrites: deadlines pass in the middle of writes of all kinds, and what they say was written is what comes: not a byte less or more.
func TestInterruptedWrites(t *testing.T) {
	tidy(t)
	wide := newPair(t, stream.Options{}, stream.Options{})
	tight := newPairOver(t, braid.Options{Limits: braid.Limits{Window: 16 << 10}}, stream.Options{}, stream.Options{}) // most of a write waits here, and is called off
	for _, size := range []int{5_000, 50_000, 300_000, 4 << 20, -300_000, -4 << 20} {
		p := wide
		if size < 0 {
			p, size = tight, -size
		}
		a, b := p.conns(t)
		sent, timeouts := make(chan int), 0
		go func() {
			total := 0
			for i := 0; timeouts < 20 && i < 4000; i++ {
				a.SetWriteDeadline(time.Now().Add(time.Duration(i%7) * 50 * time.Microsecond))
				n, err := a.Write(pattern(total, size))
				total += n
				if errors.Is(err, os.ErrDeadlineExceeded) {
					timeouts++
				} else if err != nil || n != size {
					t.Errorf("%d of %d bytes, %v", n, size, err)
				}
			}
			a.Close()
			sent <- total
		}()
		got, n := make([]byte, 100_000), 0
		for {
			k, err := b.Read(got)
			if !bytes.Equal(got[:k], pattern(n, k)) {
				t.Fatalf("writes of %d: other bytes between %d and %d", size, n, n+k)
			}
			if n += k; err != nil {
				break
			}
		}
		if total := <-sent; n != total {
			t.Errorf("writes of %d: %d bytes were written, %d came", size, total, n)
		}
	}
}

// TestManyStreams: many of them on one endpoint, all at a time, dialed all at once.
func TestManyStreams(t *testing.T) {
	tidy(t)
	const streams, size = 64, 200_000
	p := newPair(t, stream.Options{}, stream.Options{})
	go func() {
		for {
			c, err := p.ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	var mu sync.Mutex
	ends := map[any]bool{}
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			c, err := p.cm.Dial(within(t), p.ln.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			mu.Lock()
			ends[c.(*stream.Conn).Endpoint()] = true
			mu.Unlock()
			go func() {
				c.Write(pattern(i, size))
				c.(*stream.Conn).CloseWrite()
			}()
			if err := check(c, i, size); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(ends) != 1 {
		t.Errorf("%d endpoints for one address", len(ends))
	}
	p.ln.Close()
}

// TestDeadlineWins: data that is there does not count once the deadline is over, as of any net.Conn; and comes when it is taken away.
func TestDeadlineWins(t *testing.T) {
	tidy(t)
	a, b := newPair(t, stream.Options{}, stream.Options{}).conns(t)
	write(t, a, "xy")
	read(t, b, "x")
	b.SetReadDeadline(time.Unix(1, 0))
	_, err := b.Read(make([]byte, 1))
	var ne net.Error
	if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() {
		t.Error(err)
	}
	b.SetReadDeadline(time.Time{})
	read(t, b, "y")
}

// TestPingPongAllocates: nothing, once it runs.
func TestPingPongAllocates(t *testing.T) {
	tidy(t)
	a, b := newPair(t, stream.Options{}, stream.Options{}).conns(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := make([]byte, 64)
		for {
			n, err := b.Read(p)
			if err != nil {
				return
			}
			b.Write(p[:n])
		}
	}()
	p := make([]byte, 64)
	ping := func() {
		a.Write(p)
		io.ReadFull(a, p)
	}
	for range 200 {
		ping()
	}
	if n := testing.AllocsPerRun(500, ping); n > 0 && !underRace {
		t.Errorf("%v allocations for a ping-pong", n)
	}
	a.Close()
	<-done
}

// TestLittleRoom: where an endpoint lets few operations wait, streams wait with what they have to say, and say it in order.
func TestLittleRoom(t *testing.T) {
	tidy(t)
	p := newPairOver(t, braid.Options{Limits: braid.Limits{Pending: 1, Window: 4096}}, stream.Options{}, stream.Options{})
	var all sync.WaitGroup
	for i := range 8 {
		a, b := p.conns(t)
		const n = 300_000
		for _, c := range []*stream.Conn{a, b} {
			all.Go(func() {
				if k, err := io.Copy(c, onlyReader{bytes.NewReader(pattern(i, n))}); k != n || err != nil {
					t.Errorf("sent %d, %v", k, err)
				}
				c.CloseWrite()
			})
			all.Go(func() {
				if err := check(c, i, n); err != nil {
					t.Error(err)
				}
				if _, err := c.Read(make([]byte, 1)); err != io.EOF {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
}

// TestOpenedWithoutLanes: who opens streams, and gives up, while nothing moves, floods nobody: the endpoint goes on when lanes do.
func TestOpenedWithoutLanes(t *testing.T) {
	tidy(t)
	begun := time.Now()
	inj := fault.New(func() time.Duration { return time.Since(begun) + 1 })
	defer inj.Close()
	p := newPairOver(t, braid.Options{
		Limits: braid.Limits{Window: 16 << 10, Pending: 16}, Lanes: 1, Transports: []transport.Transport{tcp.New(tcp.Options{Wrapper: inj})},
	}, stream.Options{}, stream.Options{Streams: 16})
	a, b := p.conns(t)
	pause := inj.Apply(fault.Rule{Action: fault.Pause})
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			short, stop := context.WithTimeout(within(t), 10*time.Millisecond)
			defer stop()
			if _, err := p.cm.Open(short, a.Endpoint()); err == nil {
				t.Error("a stream is open, and nothing moves")
			}
		})
	}
	all.Wait()
	inj.Withdraw(pause, nil)
	write(t, b, "still here")
	read(t, a, "still here")
	write(t, a, "still here")
	read(t, b, "still here")
}

// TestSmallMessages: a peer that takes small messages only gets streams all the same.
func TestSmallMessages(t *testing.T) {
	tidy(t)
	p := newPairOver(t, braid.Options{Limits: braid.Limits{Message: 5000}}, stream.Options{}, stream.Options{})
	a, b := p.conns(t)
	const n = 2 << 20
	for _, write := range []func() error{
		func() error { _, err := a.Write(pattern(3, n)); return err },
		func() error { _, err := a.ReadFrom(onlyReader{bytes.NewReader(pattern(3, n))}); return err },
	} {
		ended := make(chan error, 1)
		go func() { ended <- write() }()
		if err := a.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if err := b.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			t.Fatalf("nobody has read, and it is written: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		if err := check(b, 3, n); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// TestCalledOff: nothing moves; a large write waits behind a small one, and its deadline passes. None of it was written, and none of it comes.
func TestCalledOff(t *testing.T) {
	tidy(t)
	begun := time.Now()
	inj := fault.New(func() time.Duration { return time.Since(begun) + 1 })
	defer inj.Close()
	p := newPairOver(t, braid.Options{
		Limits: braid.Limits{Window: 16 << 10}, Lanes: 1, Transports: []transport.Transport{tcp.New(tcp.Options{Wrapper: inj})},
	}, stream.Options{}, stream.Options{})
	a, b := p.conns(t)
	pause := inj.Apply(fault.Rule{Action: fault.Pause})
	const before = 40_000 // a parcel: more than may be under way
	if n, err := a.Write(pattern(0, before)); n != before || err != nil {
		t.Fatalf("wrote %d, %v", n, err)
	}
	a.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
	if n, err := a.Write(make([]byte, 300_000)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes of a write that waited are said to be written, %v", n, err)
	}
	inj.Withdraw(pause, nil)
	a.SetWriteDeadline(time.Time{})
	go a.Write(pattern(before, 300_000))
	if err := check(b, 0, before+300_000); err != nil {
		t.Error(err)
	}
}
