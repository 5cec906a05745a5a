package wire

import (
	"slices"
	"testing"
)

func TestChanges(t *testing.T) {
	signal := PutSignal{Put: Put{Index: 5}}
	signal.Signal.Index = 6
	for _, c := range []struct {
		id   uint8
		head []byte
		want []uint32
	}{
		{IDPut, Put{Index: 3}.AppendTo(nil), []uint32{3}},
		{IDPutSignal, signal.AppendTo(nil), []uint32{5, 6}},
		{IDAtomicOp, AtomicOp{Index: 7, Size: 8, Change: ChangeAdd}.AppendTo(nil), []uint32{7}},
		{IDGet, Get{Index: 3}.AppendTo(nil), nil},
		{IDPut, []byte{1, 2, 3}, nil},
	} {
		if got := Changes(c.id, c.head); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v instead of %v", Name(c.id), got, c.want)
		}
	}
}
