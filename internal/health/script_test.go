package health

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// TestScripts plays testdata/scripts. A line of a script is "MS COMMAND ARGUMENTS", MS the time in milliseconds:
//
//	add LANE [RTT-MS] | remove LANE | note LANE TRIPS busy|idle | pong LANE NONCE | reached LANE COUNT | tick | run MS (ticks when due, until MS)
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		var e *Endpoint
		lanes := map[string]*Lane{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				e = New(someConfig())
				clear(lanes)
			}
			var out strings.Builder
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				if f := strings.Fields(line); len(f) > 1 {
					play(&out, e, lanes, f)
				}
			}
			return out.String()
		})
	})
}

func play(out *strings.Builder, e *Endpoint, lanes map[string]*Lane, f []string) {
	now := ms(f[0])
	arg := func(i int) string {
		if i < len(f) {
			return f[i]
		}
		return "0"
	}
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(arg(i), 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	}
	switch f[1] {
	case "add":
		lanes[f[2]] = &Lane{Owner: f[2]}
		trip := 1 * time.Nanosecond // known, and nothing to stretch limits with
		if len(f) > 3 {
			trip = ms(arg(3)) // 0: not known
		}
		e.Add(now, lanes[f[2]], 0, trip)
	case "remove":
		e.Remove(lanes[f[2]])
	case "note":
		e.Note(now, lanes[f[2]], number(3), arg(4) == "busy")
	case "reached":
		e.Reached(now, lanes[f[2]], number(3))
	case "pong":
		if !e.Pong(now, lanes[f[2]], number(3)) {
			fmt.Fprintf(out, "%v not an answer\n", now)
		}
	case "tick":
		report(out, e, now)
	case "run":
		for e.Due() <= ms(f[2]) {
			report(out, e, e.Due())
		}
	default:
		panic("no command " + f[1])
	}
}

func report(out *strings.Builder, e *Endpoint, now time.Duration) {
	actions, next := e.Tick(now)
	for _, a := range actions {
		fmt.Fprintf(out, "%v %v", now, a.Do)
		if a.Lane != nil {
			fmt.Fprintf(out, " %v", a.Lane.Owner)
		}
		if a.Do == Probe {
			fmt.Fprintf(out, " %d", a.Nonce)
		}
		fmt.Fprintln(out)
	}
	switch {
	case next == Never:
		fmt.Fprintf(out, "%v next: never\n", now)
	case next <= now:
		fmt.Fprintf(out, "%v NEXT IS NOT LATER: %v\n", now, next)
	case len(actions) > 0:
		fmt.Fprintf(out, "%v next: %v\n", now, next)
	}
}

func ms(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return time.Duration(f * float64(time.Millisecond))
}
