package owed

import "testing"

func TestAllowance(t *testing.T) {
	var a Allowance
	const backlog = 80
	if !a.Takes(1000, backlog) {
		t.Error("a large one is not taken, though nothing is under way")
	}
	a.Begin(70, 0)
	if !a.Takes(10, backlog) || a.Takes(11, backlog) {
		t.Error("70 of 80: 10 more, and not 11")
	}
	if left := a.Left(backlog); left != 10 {
		t.Errorf("%d left of 10", left)
	}
	if more, err := a.Grant(60); !more || err != nil {
		t.Errorf("60 of 70 handled: %v, %v", more, err)
	}
	if more, err := a.Grant(50); more || err != nil {
		t.Errorf("late: %v, %v", more, err)
	}
	if !a.Takes(1000, backlog) {
		t.Error("with a share untold it may go on")
	}
	if _, err := a.Grant(71); err == nil {
		t.Error("credit for what was never sent")
	}
	a.Undo(10)
	if left := a.Left(backlog); left != backlog {
		t.Errorf("%d left of all", left)
	}
}

func TestUnfinished(t *testing.T) {
	var a Allowance
	if !a.Holds(1000, 100) {
		t.Error("one of any size is taken")
	}
	a.Begin(1, 60)
	if !a.Holds(40, 100) || a.Holds(41, 100) {
		t.Error("60 of 100: 40 more, and not 41")
	}
	a.Finish(60)
	if !a.Holds(1000, 100) {
		t.Error("nothing is unfinished")
	}
}
