package budget_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/transport/shm/budget"
)

// TestModel: both limits hold, whatever is taken and given back, and nothing is left at the end.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := budget.Budget{Limit: 1000, Peer: 300}
		type taken struct{ peer, n int }
		var all []taken
		sum, by := 0, map[int]int{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			if len(all) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(all)-1).Draw(t, "which")
				b.Give(all[i].peer, all[i].n)
				sum, by[all[i].peer] = sum-all[i].n, by[all[i].peer]-all[i].n
				all = append(all[:i], all[i+1:]...)
			} else {
				x := taken{rapid.IntRange(1, 6).Draw(t, "peer"), rapid.IntRange(1, 200).Draw(t, "n")}
				fits := sum+x.n <= 1000 && by[x.peer]+x.n <= 300
				if err := b.Take(x.peer, x.n); (err == nil) != fits {
					t.Fatalf("%+v with %d in all and %d of the peer: %v", x, sum, by[x.peer], err)
				} else if err == nil {
					all = append(all, x)
					sum, by[x.peer] = sum+x.n, by[x.peer]+x.n
				}
			}
		}
		for _, x := range all {
			b.Give(x.peer, x.n)
		}
		if n, peers := b.Used(); n != 0 || peers != 0 {
			t.Fatalf("%d bytes of %d peers are left", n, peers)
		}
	})
}

// TestWhatIsSaid: how much it was, how much there may be, of whom, and where to say otherwise.
func TestWhatIsSaid(t *testing.T) {
	b := budget.Budget{Limit: 1000, Peer: 300}
	if err := b.Take(77, 250); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n    int
		want []string
	}{{60, []string{"60 bytes", "process 77", "250 of 300", "shm-peer-limit"}}, {800, []string{"800 bytes", "this node", "250 of 1000", "setting shm-limit"}}} {
		err := b.Take(77, c.n)
		if !errors.Is(err, budget.ErrLimit) {
			t.Fatal(err)
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q does not say %q", err, w)
			}
		}
	}
}
