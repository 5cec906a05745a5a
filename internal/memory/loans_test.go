package memory

import (
	"testing"

	"github.com/openbraid/braid/internal/wire"
)

// TestLent: what a worker has lent is read by its key, and by nothing else; when it is returned it is used again, under another key, but not while somebody reads it.
func TestLent(t *testing.T) {
	n := uint64(0)
	node := NewTable(func() uint64 { n++; return n })
	w, other := node.OfWorker(), node.OfWorker()
	may := func(in *Table, k wire.RKey, need wire.Rights) bool {
		_, b, code := in.Target(k.Index, k.Secret, need, 1, 2)
		return code == 0 && len(b) == 2
	}
	a := w.Lent([]byte("first"))
	k := a.Key(wire.Read, 0)
	none := k
	none.Secret = 0
	if !may(w, k, wire.Read) || may(w, k, wire.Write) || may(w, none, wire.Read) || may(node, k, wire.Read) || may(other, k, wire.Read) {
		t.Error("the key does not allow to read, or more than that, or to others")
	}
	reg := node.Add([]byte("registered"))
	if !may(w, reg.Key(wire.Read, 0), wire.Read) {
		t.Error("the node's regions are not the worker's")
	}
	w.Return(a)
	if b := w.Lent([]byte("second")); b != a || may(w, k, wire.Read) || !may(w, b.Key(wire.Read, 0), wire.Read) {
		t.Error("it is not used again, or under its old key")
	}
	k = a.Key(wire.Read, 0)
	a.Enter()
	if w.Remove(a); may(w, k, wire.Read) {
		t.Error("removed, and still to be read")
	}
	w.Return(a)
	c := w.Lent([]byte("third"))
	if c == a || string(a.Bytes) != "second" || may(w, k, wire.Read) || !may(w, c.Key(wire.Read, 0), wire.Read) {
		t.Error("what is being read is used again")
	}
	a.Leave()
	if len(w.loans.all) != 1 {
		t.Errorf("%d numbers for one loan at a time", len(w.loans.all))
	}
	if n := testing.AllocsPerRun(100, func() { w.Return(c); c = w.Lent(nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
