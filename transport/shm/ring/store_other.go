//go:build !amd64 || race

package ring

import "sync/atomic"

// store makes value visible after everything that was stored before.
func store(word *uint64, value uint64) { atomic.StoreUint64(word, value) }

// fence has nothing to do: no load passes an atomic store.
func fence(*atomic.Uint32) {}

// fetch would begin to read a line.
func fetch(*uint64) {}
