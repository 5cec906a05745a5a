package sim

import (
	"fmt"
	"os"
	"testing"

	"github.com/openbraid/braid/transport/sim"
)

func TestDebug(t *testing.T) {
	if os.Getenv("BRAID_DEBUG") == "" {
		t.Skip("only by hand")
	}
	var seed uint64
	fmt.Sscan(os.Getenv("BRAID_DEBUG"), &seed)
	s := shapeOf(seed)
	s.net.Trace = func(e sim.Event) { fmt.Println(e) }
	w := newWorld(seed, s)
	w.run()
	fmt.Printf("%+v\n%s\n", s, w.report())
}
