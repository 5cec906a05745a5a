//go:build !invariants

package invariants

// Solo is something that one goroutine at a time may be inside of.
type Solo struct{}

// Enter says that the calling goroutine comes in.
func (*Solo) Enter(string) {}

// Leave says that it is out again.
func (*Solo) Leave() {}
