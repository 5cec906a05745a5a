package solo

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/self"
	"github.com/openbraid/braid/transport/tcp"
)

// Solo is one worker with an endpoint to itself.
type Solo struct {
	node  *braid.Node
	w     *braid.Worker
	ep    *braid.Endpoint
	mem   *braid.Memory
	key   braid.RKey
	src   []byte
	dst   []byte
	count int // messages that were handled
}

// New connects a worker to itself over transport/self, for payloads of size bytes, at least 1.
func New(ctx context.Context, size int) (*Solo, error) {
	s := &Solo{src: make([]byte, size), dst: make([]byte, size)}
	n, err := braid.Open(braid.Options{Owned: true, Transports: []transport.Transport{tcp.New(tcp.Options{}), self.New(self.Options{})}}) // the listener is reached by any
	if err != nil {
		return nil, err
	}
	s.node = n
	if err := s.connect(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Solo) connect(ctx context.Context) (err error) {
	if s.w, err = s.node.NewWorker(); err != nil {
		return err
	}
	if s.mem, err = s.node.Alloc(len(s.src)); err != nil {
		return err
	}
	s.key = s.mem.Key(braid.Write)
	s.w.HandleAM(1, func(*braid.Message) { s.count++ })
	ln, err := s.w.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	s.ep, err = s.w.Dial(ctx, ln.Addr())
	return err
}

// Close ends it.
func (s *Solo) Close() { s.node.Close() }

// batch operations are timed together.
const batch = 100

// Run does n operations of a test: am_lat, tag_lat or put_lat, and returns the median of what half of one takes, in microseconds.
func (s *Solo) Run(test string, n int) (float64, error) {
	once := map[string]func() error{"am_lat": s.am, "tag_lat": s.tag, "put_lat": s.put}[test]
	if once == nil {
		return 0, fmt.Errorf("no test %s over self", test)
	}
	var times []time.Duration
	for range max(2, n/batch) {
		begun := time.Now()
		for range batch {
			if err := once(); err != nil {
				return 0, err
			}
		}
		times = append(times, time.Since(begun))
	}
	times = times[len(times)/5:] // the first ones warm up
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / batch / 2 / 1e3, nil
}

func (s *Solo) am() error {
	want := s.count + 1
	s.ep.PostAM(1, nil, s.src).Release()
	for s.count < want {
		s.w.Progress()
	}
	return nil
}

func (s *Solo) tag() error {
	r := s.w.PostRecvTag(s.dst, 1, braid.ExactTag)
	s.ep.PostTag(1, s.src).Release()
	for {
		done, _, err := r.Test()
		if done {
			r.Release()
			return err
		}
		s.w.Progress()
	}
}

// put looks at the last byte of the memory, as who is put to does.
func (s *Solo) put() error {
	at := &s.mem.Bytes()[len(s.src)-1]
	last := &s.src[len(s.src)-1]
	*last++
	s.ep.PostPut(s.src, s.key, 0).Release()
	for *at != *last {
		s.w.Progress()
	}
	return nil
}
