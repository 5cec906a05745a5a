package worker_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// doInside carries out what the next handler of a is to do.
func (a *actor) doInside() {
	if len(a.inside) == 0 {
		return
	}
	f := append(a.inside[0], "", "", "")
	a.inside = a.inside[1:]
	if !a.network(nil, f) && !a.operation(a.who(f[1]), f) {
		panic(fmt.Sprintf("unknown words %q", f))
	}
}

func (s *stage) many(a *actor, n string) {
	if n == "" {
		s.logf("%s: %d fetches have ended", a.name, a.fetched)
		return
	}
	count := 0
	fmt.Sscan(n, &count)
	s.muted = true // hundreds of lines
	for i := range count {
		r, err := a.ep.PostAtomic(a.peer().key, wire.AtomicOp{Change: wire.ChangeAdd, Size: 8, Fetch: true, Value: 1, Offset: 16})
		if err != nil {
			s.logf("%s: fetch %d: %v", a.name, i, err)
			continue
		}
		if i%2 == 1 {
			a.ep.Fence()
		}
		a.eng.Then(r, func(err error) {
			if a.fetched++; err != nil {
				s.logf("%s: fetch %d ended: %v", a.name, i, err)
			}
		})
	}
}

// TestCases: each of the 28 cases of the hand-over that a model found to go wrong without some rule is a transcript, of the dialogue alone or of two
// workers, whose name begins with the number of the case.
func TestCases(t *testing.T) {
	has := map[int][]string{}
	for _, dir := range []string{"testdata/litmus", "../failover/testdata/scripts"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			n := 0
			if _, err := fmt.Sscanf(f.Name(), "%02d_", &n); err == nil {
				has[n] = append(has[n], strings.TrimSuffix(f.Name(), ".txt"))
			}
		}
	}
	for n := 1; n <= 28; n++ {
		if has[n] == nil {
			t.Errorf("case %d has no transcript", n)
		}
		t.Logf("%2d %s", n, strings.Join(has[n], ", "))
	}
}
