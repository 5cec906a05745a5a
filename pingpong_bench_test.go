package braid_test

import (
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/transport"
	"github.com/openbraid/braid/transport/shm"
	"github.com/openbraid/braid/transport/tcp"
)

// BenchmarkPingPong8 is a round trip of two messages of 8 bytes with both sides in one goroutine, so that no cache line and nobody is waited for: what the
// library's own work on both sides takes.
func BenchmarkPingPong8(b *testing.B) {
	for _, c := range []struct {
		name string
		opts braid.Options
	}{
		{"shm", braid.Options{Owned: true, Transports: []transport.Transport{shm.New(shm.Options{})}}},
		{"tcp", braid.Options{Owned: true, Transports: []transport.Transport{tcp.New(tcp.Options{})}}},
		{"default", braid.Options{Owned: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			o := connectPolled(b, c.opts)
			pongs := 0
			payload := make([]byte, 8)
			o.bw.HandleAM(1, func(m *braid.Message) { o.b.PostAM(1, nil, m.Payload()).Release() })
			o.aw.HandleAM(1, func(*braid.Message) { pongs++ })
			b.ReportAllocs()
			for i := range b.N + 1000 {
				if i == 1000 {
					b.ResetTimer()
				}
				o.a.PostAM(1, nil, payload).Release()
				for pongs <= i {
					o.turn()
				}
			}
		})
	}
}

// BenchmarkPutLent8 is a put of 8 bytes into memory that is lent: a copy by who posts it.
func BenchmarkPutLent8(b *testing.B) {
	o := connectPolled(b, braid.Options{Owned: true, Transports: []transport.Transport{shm.New(shm.Options{})}})
	key, src := o.mem.Key(braid.Write), make([]byte, 8)
	put := func() { o.a.PostPut(src, key, 0).Release() }
	for o.a.Stats().Direct == 0 {
		put()
		o.turn()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		put()
		if i%32 == 31 {
			o.aw.Progress()
		}
	}
}
