package stream_test

import (
	"io"
	"sync"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/stream"
)

// TestFlushThatCancels: a flush that cancels what waits on the endpoint leaves streams alone: they are not what its user posted there.
func TestFlushThatCancels(t *testing.T) {
	tidy(t)
	p := newPairOver(t, braid.Options{Limits: braid.Limits{Window: 64 << 10}}, stream.Options{}, stream.Options{})
	a, b := p.conns(t)
	for _, c := range []*stream.Conn{a, b} {
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
	}
	const size = 16 << 20
	stop := make(chan struct{})
	var others, canceler sync.WaitGroup
	canceler.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, w := range []*braid.Worker{p.cw, p.sw} {
				for ep := range w.Endpoints() {
					ep.PostFlushWith(braid.FlushOptions{Cancel: true}).Release()
				}
			}
			time.Sleep(20 * time.Microsecond)
		}
	})
	for _, c := range [][2]*stream.Conn{{a, b}, {b, a}} {
		others.Go(func() {
			if _, err := c[0].Write(pattern(0, size)); err != nil {
				t.Error(err)
			}
			if err := c[0].CloseWrite(); err != nil {
				t.Error(err)
			}
		})
		others.Go(func() {
			if err := check(c[1], 0, size); err != nil {
				t.Error(err)
			}
			if n, err := c[1].Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Errorf("at the end: %d bytes, %v", n, err)
			}
		})
	}
	others.Wait()
	close(stop)
	canceler.Wait()
}
