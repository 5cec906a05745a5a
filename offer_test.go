package braid_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/openbraid/braid"
)

// heard waits for what a handler or a callback says.
func heard[T any](ctx context.Context, t *testing.T, ch chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-ctx.Done():
		t.Fatal("nothing has come")
	}
	return v
}

// whole receives a message by one of two ways.
func whole(ctx context.Context, m *braid.Message, pieces bool) (b []byte, err error) {
	if !pieces {
		b = make([]byte, m.Size())
		return b, m.Recv(ctx, b)
	}
	for piece, err := range m.Chunks(ctx, make([]byte, 100_003)) {
		if err != nil {
			return nil, err
		}
		b = append(b, piece...)
	}
	return b, nil
}

// TestOfferSizes: each size arrives as it was sent, by each way to receive it, offered and sent whole, in the order in which it was posted.
func TestOfferSizes(t *testing.T) {
	tidy(t)
	rails := []string{"127.0.0.1", "127.0.0.2"}
	for _, o := range []braid.Options{{}, {Rails: rails}, {Limits: braid.Limits{Eager: 1}}, {Limits: braid.Limits{Message: 6 << 20}}, {Rails: rails, Settings: rendezvous(t, "put")}} {
		t.Run(fmt.Sprintf("%d rails, eager %d, put %v", len(o.Rails), o.Limits.Eager, o.Settings != nil), func(t *testing.T) {
			ctx := testContext(t)
			p := connect(t, o, o)
			type sent struct {
				data   []byte
				pieces bool
			}
			var all []sent
			for i, n := range tagSizes {
				for way := range 4 {
					all = append(all, sent{tagBytes(n, byte(i)), way%2 == 1})
				}
			}
			results := make(chan error, 200)
			next := 0
			p.bw.HandleOffer(1, func(m *braid.Message) {
				i := int(binary.LittleEndian.Uint32(m.Header()))
				want := all[i]
				b, err := whole(ctx, m, want.pieces)
				if err == nil && (i != next || m.ID() != 1 || m.Endpoint() != p.b || m.Size() != len(want.data) || !bytes.Equal(b, want.data)) {
					err = fmt.Errorf("message %d of %d bytes came as %d of %d, equal %v", next, len(all[next].data), i, m.Size(), bytes.Equal(b, want.data))
				}
				next = i + 1
				results <- err
			})
			for i, s := range all {
				post := p.a.PostOfferAM
				if i%4 >= 2 {
					post = p.a.PostAM
				}
				post(1, binary.LittleEndian.AppendUint32(nil, uint32(i)), s.data).Then(func(err error) {
					if err != nil {
						t.Errorf("message %d: %v", i, err)
					}
				})
			}
			for range all {
				if err := heard(ctx, t, results); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.a.Flush(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// large is more than is sent at once.
const large = 1 << 20

// TestOfferBeyondLimits: what is offered may be larger than any message, and costs its receiver nothing before it is wanted.
func TestOfferBeyondLimits(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	o := braid.Options{Limits: braid.Limits{Message: 1 << 20, Backlog: 64 << 10}}
	p := connect(t, o, o)
	kept := make(chan *braid.Message, 200)
	p.bw.HandleOffer(1, func(m *braid.Message) { m.Retain(); kept <- m })
	src := tagBytes(9<<20, 3)
	var sends []braid.Request
	for range 100 {
		sends = append(sends, p.a.PostOfferAM(1, make([]byte, 1024), src))
	}
	if err := p.a.SendAM(ctx, 1, nil, src); !errors.Is(err, braid.ErrLimit) {
		t.Errorf("9 MiB in one message: %v", err)
	}
	for i, s := range sends {
		m := heard(ctx, t, kept)
		if i%50 == 0 {
			if b, err := whole(ctx, m, i > 0); err != nil || !bytes.Equal(b, src) {
				t.Errorf("%d: %v", i, err)
			}
		} else if err := m.Recv(ctx, nil); !errors.Is(err, braid.ErrTruncated) {
			t.Errorf("%d: %v", i, err)
		}
		if len(m.Header()) != 1024 {
			t.Errorf("%d bytes of header are left of a message that is retained", len(m.Header()))
		}
		m.Release()
		if err := s.Wait(ctx); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// ending is what a handler does with an offer, what it gets, and what the sender gets.
type ending struct {
	name        string
	id          uint16
	in          func(*braid.Message) error
	here, there error
}

func endings(ctx context.Context, t *testing.T, kept **braid.Message) []ending {
	half := func(m *braid.Message) error {
		for _, err := range m.Chunks(ctx, make([]byte, large/2)) {
			return err
		}
		return nil
	}
	return []ending{
		{"received", 1, func(m *braid.Message) error { return m.Recv(ctx, make([]byte, large+5)) }, nil, nil},
		{"too short", 1, func(m *braid.Message) error { return m.Recv(ctx, make([]byte, large-1)) }, braid.ErrTruncated, nil},
		{"taken note of", 1, func(m *braid.Message) error { return m.Recv(ctx, nil) }, braid.ErrTruncated, nil},
		{"not wanted", 1, func(m *braid.Message) error { return nil }, nil, braid.ErrCanceled},
		{"twice", 1, func(m *braid.Message) error {
			m.Recv(ctx, make([]byte, large))
			return m.Recv(ctx, make([]byte, large))
		}, braid.ErrRequest, nil},
		{"pieces after all", 1, func(m *braid.Message) error { m.Recv(ctx, make([]byte, large)); return half(m) }, braid.ErrRequest, nil},
		{"given up in the middle", 1, half, nil, braid.ErrCanceled},
		{"no memory for a piece", 1, func(m *braid.Message) error {
			for _, err := range m.Chunks(ctx, nil) {
				if err == nil {
					t.Error("a piece")
				}
			}
			return nil
		}, nil, braid.ErrCanceled},
		{"pieces, all of them", 1, func(m *braid.Message) error { _, err := whole(ctx, m, true); return err }, nil, nil},
		{"canceled by the receiver", 1, func(m *braid.Message) error {
			over, cancel := context.WithCancel(ctx)
			cancel()
			return m.Recv(over, make([]byte, large))
		}, context.Canceled, braid.ErrCanceled}, // or all of it was here by then
		{"retained, and let go of", 1, func(m *braid.Message) error { m.Retain(); *kept = m; go m.Release(); return nil }, nil, braid.ErrCanceled},
		{"nobody", 3, nil, nil, braid.ErrHandler},
		{"whole messages only", 2, nil, nil, braid.ErrHandler},
	}
}

// TestOfferEnds: what a handler does with an offer, and what its sender hears.
func TestOfferEnds(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{}, braid.Options{})
	said := make(chan error, 1)
	p.bw.HandleAM(2, func(m *braid.Message) {
		t.Errorf("a handler of whole messages has one of %d bytes, of which %d are there", m.Size(), len(m.Payload()))
	})
	src := tagBytes(large, 9)
	var kept *braid.Message
	for _, c := range endings(ctx, t, &kept) {
		p.bw.HandleOffer(1, func(m *braid.Message) { said <- c.in(m) })
		err := p.a.OfferAM(ctx, c.id, []byte("header"), src)
		if errors.Is(c.here, context.Canceled) && err == nil {
			c.here, c.there = nil, nil
		}
		var op *braid.OpError
		if !errors.Is(err, c.there) || (err == nil) != (c.there == nil) || err != nil && (!errors.As(err, &op) || op.Op != "am offer" || op.Fate != braid.Unknown && c.in != nil) {
			t.Errorf("%s: the sender gets %v", c.name, err)
		}
		if c.in != nil {
			if err := heard(ctx, t, said); !errors.Is(err, c.here) || (err == nil) != (c.here == nil) {
				t.Errorf("%s: the handler gets %v", c.name, err)
			}
		}
	}
	if kept.Size() != large {
		t.Errorf("a message of %d bytes that was let go of has %d", large, kept.Size())
	}
	if err := p.a.Flush(ctx); !errors.Is(err, braid.ErrHandler) {
		t.Errorf("a flush says %v of an offer that nobody handles", err)
	}
	for name, err := range map[string]error{
		"a header of 1025 bytes": p.a.OfferAM(ctx, 1, make([]byte, 1025), src),
		"a reserved id":          p.a.OfferAM(ctx, 65280, nil, src),
	} {
		if !errors.Is(err, braid.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOfferTakenBack: a sender who does not want to wait has his memory back, at once or when the peer has let go, and who wants the message hears of that.
func TestOfferTakenBack(t *testing.T) { schemes(t, offerTakenBack) }

func offerTakenBack(t *testing.T, set *braid.Settings) {
	for _, canceled := range []bool{false, true} {
		for _, begun := range []bool{false, true} {
			t.Run(fmt.Sprintf("canceled %v, begun %v", canceled, begun), func(t *testing.T) {
				ctx := testContext(t)
				p := connect(t, braid.Options{Settings: set}, braid.Options{})
				kept := make(chan *braid.Message, 1)
				p.bw.HandleOffer(1, func(m *braid.Message) { m.Retain(); kept <- m })
				src := bytes.Repeat([]byte{was}, large)
				r := p.a.PostOfferAM(1, []byte("header"), src)
				m := heard(ctx, t, kept)
				go1, over := make(chan bool), make(chan error, 1)
				go func() {
					pieces := 0
					for b, err := range m.Chunks(ctx, make([]byte, 4000)) {
						if err != nil {
							over <- err
							return
						}
						if bytes.IndexByte(b, now) >= 0 {
							t.Error("what its user writes after the end was read")
						}
						if pieces++; pieces == 1 && begun {
							go1 <- true
							<-go1
						}
					}
					over <- nil
				}()
				take := func() error {
					if canceled {
						r.Cancel()
						return r.Wait(ctx)
					}
					short, cancel := context.WithTimeout(ctx, time.Millisecond)
					defer cancel()
					return r.Wait(short)
				}
				want := error(context.DeadlineExceeded)
				if canceled {
					want = braid.ErrCanceled
				}
				if begun {
					<-go1
				}
				err := take()
				for i := range src {
					src[i] = now
				}
				if begun {
					go1 <- true
				}
				end := heard(ctx, t, over)
				var op *braid.OpError
				faster := !begun && end == nil
				if !(faster && err == nil) && (!errors.Is(err, want) || !errors.As(err, &op) || op.Fate != braid.Unknown) {
					t.Errorf("the sender gets %v", err)
				}
				if !faster && !errors.Is(end, braid.ErrCanceled) {
					t.Errorf("the receiver gets %v", end)
				}
				if m.Release(); p.a.Flush(ctx) != nil {
					t.Error("the endpoint is not as good as before")
				}
			})
		}
	}
}

// TestOfferOwned: an Owned worker's handler may not wait, and says so; it posts, or has the loop of its owner read later.
func TestOfferOwned(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	p := connect(t, braid.Options{Owned: true}, braid.Options{})
	src := tagBytes(large, 5)
	buf, ended := make([]byte, large), 0
	var kept *braid.Message
	p.aw.HandleOffer(1, func(m *braid.Message) {
		if err := m.Recv(ctx, buf); !errors.Is(err, braid.ErrInCallback) {
			t.Errorf("a handler may wait: %v", err)
		}
		for _, err := range m.Chunks(ctx, buf) {
			if !errors.Is(err, braid.ErrInCallback) {
				t.Errorf("a handler may wait: %v", err)
			}
		}
		if kept == nil {
			m.Retain()
			kept = m
			return
		}
		m.PostRecv(buf).Then(func(err error) {
			if ended++; err != nil {
				t.Error(err)
			}
		})
	})
	sends := make(chan error, 2)
	for range 2 {
		p.b.PostOfferAM(1, nil, src).Then(func(err error) { sends <- err })
	}
	for ended == 0 && ctx.Err() == nil {
		p.aw.Progress()
	}
	if !bytes.Equal(buf, src) {
		t.Error("other bytes")
	}
	if b, err := whole(ctx, kept, true); err != nil || !bytes.Equal(b, src) {
		t.Error("in pieces:", err)
	}
	kept.Release()
	for n := 0; n < 2 && ctx.Err() == nil; p.aw.Progress() {
		select {
		case err := <-sends:
			if n++; err != nil {
				t.Error(err)
			}
		default:
		}
	}
}

// TestOfferEndpointOver: what was offered is gone with its endpoint: who wants it then, or is reading it, and who has sent it, hear why.
func TestOfferEndpointOver(t *testing.T) {
	tidy(t)
	for name, end := range map[string]func(*pair){
		"aborted by the sender":   func(p *pair) { p.a.Abort() },
		"aborted by the receiver": func(p *pair) { p.b.Abort() },
		"the sender's worker":     func(p *pair) { p.aw.Close() },
		"the receiver's worker":   func(p *pair) { p.bw.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx := testContext(t)
			p := connect(t, braid.Options{}, braid.Options{})
			kept := make(chan *braid.Message, 2)
			p.bw.HandleOffer(1, func(m *braid.Message) { m.Retain(); kept <- m })
			sends := []braid.Request{p.a.PostOfferAM(1, nil, make([]byte, large)), p.a.PostOfferAM(1, nil, make([]byte, large))}
			unread, begun := heard(ctx, t, kept), heard(ctx, t, kept)
			var ends []error
			for _, err := range begun.Chunks(ctx, make([]byte, 4000)) {
				if err != nil {
					ends = append(ends, err)
					break
				}
				if len(ends) == 0 && end != nil {
					end(p)
					end = nil
				}
			}
			ends = append(ends, unread.Recv(ctx, make([]byte, large)), unread.Recv(ctx, nil))
			for _, s := range sends {
				ends = append(ends, s.Wait(ctx))
			}
			for i, err := range ends {
				var op *braid.OpError
				if !errors.As(err, &op) || !errors.Is(err, braid.ErrClosed) && !errors.Is(err, braid.ErrPeerFailed) && !errors.Is(err, braid.ErrPeerClosed) && !errors.Is(err, braid.ErrRequest) && !errors.Is(err, braid.ErrCanceled) {
					t.Errorf("%d: %v", i, err)
				}
			}
			if len(ends) != 5 {
				t.Errorf("the loop over pieces went on: %v", ends)
			}
			unread.Release()
			begun.Release()
		})
	}
}

// BenchmarkOffer is a message into memory of its handler's, offered, and whole and then copied.
func BenchmarkOffer(b *testing.B) {
	for _, size := range []int{1 << 20, 16 << 20} {
		src, dst := tagBytes(size, 1), make([]byte, size)
		for _, offered := range []bool{true, false} {
			b.Run(fmt.Sprintf("%dMiB/offered=%v", size>>20, offered), func(b *testing.B) {
				o := connectPolled(b, braid.Options{Owned: true, Transports: braid.Default()[:1]})
				over := 0
				o.bw.HandleOffer(1, func(m *braid.Message) { m.PostRecv(dst).Then(func(error) { over++ }) })
				post := o.a.PostAM
				if offered {
					post = o.a.PostOfferAM
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for i := range b.N {
					post(1, nil, src).Release()
					for over <= i {
						o.turn()
					}
				}
			})
		}
	}
}
