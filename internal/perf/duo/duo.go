package duo

import (
	"context"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/softrc"
)

// Duo is two nodes of this process, polled in turns: what a fence costs has nothing to do with a second processor.
type Duo struct {
	nodes    [2]*braid.Node
	w        [2]*braid.Worker
	Endpoint *braid.Endpoint
	key      braid.RKey
	src      []byte
}

// most is the longest put.
const most = 1 << 20

// New connects them over one or two lanes of tcp, rc (over devices in software) or shm (which has one).
func New(ctx context.Context, kind string, lanes int) (*Duo, error) {
	d := &Duo{src: make([]byte, 8)}
	rails := []string{"127.0.0.1", "127.0.0.2"}[:lanes]
	for i := range d.nodes {
		o := braid.Options{Owned: true, Rails: rails}
		switch kind {
		case "rc":
			o.Transports = []transport.Transport{softrc.New(softrc.Options{})}
		case "shm":
			o.Transports, o.Rails = []transport.Transport{shm.New(shm.Options{})}, nil
		}
		n, err := braid.Open(o)
		if err != nil {
			d.Close()
			return nil, err
		}
		d.nodes[i] = n
		if d.w[i], err = n.NewWorker(); err != nil {
			d.Close()
			return nil, err
		}
	}
	mem, err := d.nodes[1].Alloc(most)
	if err != nil {
		d.Close()
		return nil, err
	}
	d.key = mem.Key(braid.Write)
	ln, err := d.w[1].Listen("127.0.0.1:0")
	if err != nil {
		d.Close()
		return nil, err
	}
	accepted := make(chan error, 1)
	addr := ln.Addr()
	go func() { // owns the second worker until it says so
		_, err := ln.Accept(ctx)
		accepted <- err
	}()
	d.Endpoint, err = d.w[0].Dial(ctx, addr)
	if e := <-accepted; err == nil {
		err = e
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Close ends them.
func (d *Duo) Close() {
	for _, n := range d.nodes {
		if n != nil {
			n.Close()
		}
	}
}

func (d *Duo) turn() { d.w[0].Progress(); d.w[1].Progress() }

// End makes turns until a request has ended.
func (d *Duo) End(r braid.Request) error {
	done, err := r.Test()
	for ; !done; done, err = r.Test() {
		d.turn()
	}
	r.Release()
	return err
}

// Long makes the puts from now on n bytes long: up to 1 MiB.
func (d *Duo) Long(n int) { d.src = make([]byte, n) }

// Puts is the time of one of n puts, in nanoseconds, each with what between does after it, and a flush at the end. They are of 8 bytes, or as Long says.
func (d *Duo) Puts(n int, between func() error) (float64, error) {
	begun := time.Now()
	for i := range n {
		if err := d.End(d.Endpoint.PostPut(d.src, d.key, 0)); err != nil {
			return 0, err
		}
		if err := between(); err != nil {
			return 0, err
		}
		if i%64 == 63 {
			d.turn()
		}
	}
	err := d.End(d.Endpoint.PostFlush())
	return float64(time.Since(begun)) / float64(n), err
}
