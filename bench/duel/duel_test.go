package duel

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		g    Goal
		v    float64
		want string
	}{
		{AtMost(1), 1, "ok"}, {AtMost(1), 1.01, "MISSED"}, {AtLeast(5), 5, "ok"}, {AtLeast(5), 4.9, "MISSED"}, {Goal{}, 0, ""},
	} {
		if got := c.g.Verdict(c.v); got != c.want {
			t.Errorf("%v of %v: %q", c.g, c.v, got)
		}
	}
}

// Quotients are taken within a pair; which side runs first changes.
func TestCompare(t *testing.T) {
	k := Cores{Rounds: 4, A: "0", B: "0"} // one processor: no probe, one class
	var order strings.Builder
	values := []float64{10, 20, 30, 40}
	i := 0
	side := func(name string, factor float64) Runner {
		return func(context.Context) (float64, error) {
			v := factor * values[i/2]
			i++
			order.WriteString(name)
			return v, nil
		}
	}
	rows, moved, err := k.Compare(context.Background(), Comparison{Name: "x", Unit: "MB/s", Goal: AtLeast(1.5), Ours: side("a", 2), Theirs: side("b", 1)})
	if err != nil || moved != 0 || len(rows) != 1 {
		t.Fatal(rows, moved, err)
	}
	if r := rows[0]; r.Ratio.Median != 2 || r.Pairs != 4 || r.Best != 2 || r.Verdict != "ok" || r.Class != Unknown {
		t.Errorf("%+v", r)
	}
	if order.String() != "abbaabba" {
		t.Errorf("order %s", order.String())
	}
	broken := errors.New("broken")
	_, _, err = k.Compare(context.Background(), Comparison{Name: "x", Ours: func(context.Context) (float64, error) { return 0, broken }, Theirs: side("b", 1)})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}
