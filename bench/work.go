package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openbraid/braid/bench/rival"
)

// work does to the file what a transfer must do to it besides moving it: each megabyte is read, hashed, hashed again and written, by all processors at
// once. It returns MB/s. A transfer whose two ends are one machine can't be faster than this.
func (c *copies) work() (float64, error) {
	from, err := os.Open(c.file)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	path := filepath.Join(c.dir, "copy")
	to, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer os.Remove(path)
	defer to.Close()
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, runtime.NumCPU())
	begun := time.Now()
	for i := range errs {
		all.Go(func() { errs[i] = hashAndCopy(from, to, &next) })
	}
	all.Wait()
	rate := fileBytes / time.Since(begun).Seconds() / 1e6
	return rate, errors.Join(errs...)
}

// hashAndCopy takes megabytes until none is left.
func hashAndCopy(from io.ReaderAt, to io.WriterAt, next *atomic.Int64) error {
	b := make([]byte, rival.MiB)
	for {
		at := (next.Add(1) - 1) * rival.MiB
		if at >= fileBytes {
			return nil
		}
		if _, err := from.ReadAt(b, at); err != nil {
			return err
		}
		one, two := sha256.Sum256(b), sha256.Sum256(b) // as the sender and the receiver make them
		if one != two {
			return fmt.Errorf("two hashes of the same bytes differ, at %d", at)
		}
		if _, err := to.WriteAt(b, at); err != nil {
			return err
		}
	}
}
