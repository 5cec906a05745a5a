package delivery

import (
	"errors"
	"testing"
)

// TestEnds: who asks before is told once, who asks later is told, too, and never from inside.
func TestEnds(t *testing.T) {
	why, told := errors.New("why"), 0
	var q Queue
	e := EndsIn(&q)
	fn := func(err error) {
		if err != why {
			t.Error(err)
		}
		told++
	}
	e.OnEnd(fn)
	e.Over(why)
	e.Over(errors.New("another"))
	e.OnEnd(fn)
	if told != 0 {
		t.Error("told from inside")
	}
	calls := q.Take(nil)
	for i := range calls {
		q.Run(&calls[i])
	}
	if q.Finish(calls); told != 2 {
		t.Errorf("told %d times", told)
	}
}
