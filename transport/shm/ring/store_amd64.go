//go:build !race

package ring

import "sync/atomic"

// store makes value visible after everything that was stored before. This processor keeps stores in order by itself; an atomic one of the language waits
// besides until the line is here, which takes as long as the way to another processor.
//
//go:noescape
func store(word *uint64, value uint64)

// fetch begins to read a line, and waits for nothing. It changes nothing that a program could see.
//
//go:noescape
func fetch(word *uint64)

// fence is passed by no load before all that was stored is visible.
func fence(own *atomic.Uint32) { own.Add(1) }
