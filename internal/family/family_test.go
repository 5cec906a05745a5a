package family

import "testing"

// TestTable: the families' ids are the library's own, and nobody else's.
func TestTable(t *testing.T) {
	of := map[uint16]string{}
	for name, first := range map[string]uint16{"tag": Tag, "stream": Stream, "offer": Offer} {
		for i := range uint16(each) {
			id := first + i
			if !Reserved(id) || id < first {
				t.Errorf("%d of %s is a program's", id, name)
			}
			if of[id] != "" {
				t.Errorf("%d is of %s and of %s", id, name, of[id])
			}
			of[id] = name
		}
	}
	if Reserved(First-1) || !Reserved(1<<16-1) {
		t.Error("the border is not where it is said to be")
	}
}
