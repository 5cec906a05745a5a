//go:build !invariants

package invariants

import "fmt"

// Solo is something that one goroutine at a time may be inside of.
type Solo struct{}

// Enter says that the calling goroutine comes in.
func (*Solo) Enter(string) {}

// Leave says that it is out again.
func (*Solo) Leave() {}

// Require says that what has just happened to a life, an event in a state, is possible there.
func Require(ok bool, life string, state, event fmt.Stringer) {}
