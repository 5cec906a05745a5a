package rc_test

import (
	"testing"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/transport/rc"
)

func TestLife(t *testing.T) { golden.Same(t, "testdata/life.txt", rc.Life()) }
