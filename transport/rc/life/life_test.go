package life_test

import (
	"testing"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/transport/rc/life"
)

func TestLife(t *testing.T) { golden.Same(t, "testdata/life.txt", life.Table.Matrix()) }
