package files

import (
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/files/dialogue"
)

// benchBytes is the size of the file that is sent.
const benchBytes = 256 << 20

// memory is a directory of a file system in memory, where there is one: disks are not the question.
func memory(b *testing.B) string {
	b.Helper()
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		return b.TempDir()
	}
	dir, err := os.MkdirTemp(base, "braid-bench")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// large is a file of benchBytes.
func large(b *testing.B) string {
	b.Helper()
	path := filepath.Join(memory(b), "file")
	f, err := os.Create(path)
	if err == nil {
		_, err = io.CopyN(f, rand.NewChaCha8([32]byte{1}), benchBytes)
		f.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkLoopback sends a file within this process, over one lane.
func BenchmarkLoopback(b *testing.B) {
	path := large(b)
	r := receive(b, ReceiveOptions{Dir: memory(b), Overwrite: true, Node: braid.Options{Lanes: 1}})
	b.SetBytes(benchBytes)
	for b.Loop() {
		if _, err := sendAs(b, SendOptions{Addr: r.addr, Paths: []string{path}, Node: braid.Options{Lanes: 1}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBound does to the same bytes what a transfer must do to them besides moving them: read, hash, hash, write, on all processors.
func BenchmarkBound(b *testing.B) {
	path, dir := large(b), memory(b)
	b.SetBytes(benchBytes)
	for b.Loop() {
		from, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		to, err := os.Create(filepath.Join(dir, "copy"))
		if err != nil {
			b.Fatal(err)
		}
		var next atomic.Int64
		var all sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			all.Go(func() {
				buf := make([]byte, dialogue.PieceBytes)
				for {
					at := (next.Add(1) - 1) * dialogue.PieceBytes
					if at >= benchBytes {
						return
					}
					if _, err := from.ReadAt(buf, at); err != nil {
						b.Error(err)
						return
					}
					sent := sha256.Sum256(buf)
					if got := sha256.Sum256(buf); got != sent {
						b.Error("hashes differ")
					}
					if _, err := to.WriteAt(buf, at); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		from.Close()
		to.Close()
		os.Remove(to.Name())
	}
}
