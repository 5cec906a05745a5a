package fault

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String is the rule's text; Parse reads it.
func (r Rule) String() string {
	var b strings.Builder
	b.WriteString(r.Action.String())
	b.WriteString(r.argument())
	put := func(key string, said bool, value any) {
		if said {
			fmt.Fprintf(&b, " %s=%v", key, value)
		}
	}
	put("lane", r.Lane != "", r.Lane)
	put("rail", r.Rail != "", r.Rail)
	put("kind", r.Action == Cut, r.Kind)
	put("side", r.Side != Local, r.Side)
	put("on", r.On != "", r.On)
	put("dir", r.Dir != Both, r.Dir)
	put("signal", r.Stop, "stop")
	put("when", r.Start != Now, r.Start)
	put("after", r.After > 0, r.After)
	put("for", r.For > 0, r.For)
	put("every", r.Every > 0, spread(r.Every, r.Spread))
	put("count", r.Count > 0, r.Count)
	return b.String()
}

// argument is what stands right behind the action.
func (r *Rule) argument() string {
	switch r.Action {
	case Drop, Duplicate, Corrupt:
		return " " + strconv.FormatFloat(r.Percent, 'f', -1, 64) + "%"
	case Delay:
		return " " + spread(r.Delay, r.Jitter)
	case Throttle:
		return " " + rateText(r.Rate)
	case Kill:
		return " peer"
	case Iface:
		return " " + r.Device + " down"
	case Cut, Pause:
	}
	return ""
}

func spread(d, by time.Duration) string {
	if by == 0 {
		return d.String()
	}
	return d.String() + "±" + by.String()
}

// units of a rate, largest first.
var units = []struct {
	name string
	bits int64
}{{"Gbit", 1e9}, {"Mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}

func rateText(bits int64) string {
	for _, u := range units {
		if bits%u.bits == 0 {
			return strconv.FormatInt(bits/u.bits, 10) + u.name
		}
	}
	return ""
}

// String is the plan's text, a rule a line; ParsePlan reads it.
func (p Plan) String() string {
	var b strings.Builder
	for _, r := range p {
		b.WriteString(r.String())
		b.WriteByte('\n')
	}
	return b.String()
}
