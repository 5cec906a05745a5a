package stream_test

import (
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/stream"
)

// BenchmarkConn is a stream beside a TCP connection: a ping-pong of 8 bytes, and 16 MiB one way in writes of a size.
func BenchmarkConn(b *testing.B) {
	for _, wait := range []braid.WaitPolicy{braid.WaitAdaptive, braid.WaitSleep} {
		b.Run("braid/"+wait.String(), func(b *testing.B) {
			benchConn(b, func(b *testing.B) (net.Conn, net.Conn) {
				c, s := newPairOver(b, braid.Options{Wait: wait}, stream.Options{}, stream.Options{}).conns(b)
				return c, s
			})
		})
	}
	b.Run("tcp", func(b *testing.B) {
		benchConn(b, func(b *testing.B) (net.Conn, net.Conn) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { ln.Close() })
			c, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			s, err := ln.Accept()
			if err != nil {
				b.Fatal(err)
			}
			return c, s
		})
	})
}

func benchConn(b *testing.B, conns func(*testing.B) (net.Conn, net.Conn)) {
	b.Run("lat", func(b *testing.B) {
		c, s := conns(b)
		go io.Copy(s, onlyReader{s})
		p := make([]byte, 8)
		for b.Loop() {
			if _, err := c.Write(p); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(c, p); err != nil {
				b.Fatal(err)
			}
		}
		c.Close()
	})
	for _, size := range []int{4 << 10, 32 << 10, 128 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("bw/%dKiB", size>>10), func(b *testing.B) {
			c, s := conns(b)
			go func() {
				p := make([]byte, 256<<10)
				for {
					if _, err := s.Read(p); err != nil {
						return
					}
				}
			}()
			p := make([]byte, size)
			b.SetBytes(16 << 20)
			for b.Loop() {
				for n := 0; n < 16<<20; n += size {
					if _, err := c.Write(p); err != nil {
						b.Fatal(err)
					}
				}
			}
			c.Close()
		})
	}
}
