package cma_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/openbraid/braid/transport/shm/cma"
)

// BenchmarkRead is a payload that is read from another place of this process.
func BenchmarkRead(b *testing.B) {
	m, r := cma.NewMark(rand.Uint64), &cma.Reader{}
	if err := r.Open(os.Getpid(), *m); err != nil {
		b.Skip(err)
	}
	defer runtime.KeepAlive(m)
	for _, n := range []int{0, 4 << 10, 64 << 10, 256 << 10, 1 << 20} {
		src, dst := make([]byte, n), make([]byte, n)
		clear(src)
		clear(dst)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for range b.N {
				if err := r.Read(dst, cma.Address(src)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
