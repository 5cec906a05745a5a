package verdict

import (
	"slices"
	"time"

	"github.com/openbraid/braid/fault"
)

// figures are the quantiles of what cuts cost.
func (j *judge) figures() {
	var blackouts, gaps []float64
	worst := -1
	for i, c := range j.rep.Cuts {
		j.rep.Replayed, j.rep.Needed = j.rep.Replayed+c.Replayed, j.rep.Needed+c.Needed
		if c.Idle {
			j.rep.Idle++
			continue
		}
		gaps = append(gaps, c.GapMS)
		if c.BlackoutMS >= 0 {
			blackouts = append(blackouts, c.BlackoutMS)
			if worst < 0 || c.BlackoutMS > j.rep.Cuts[worst].BlackoutMS {
				worst = i
			}
		}
	}
	for _, s := range j.Rules {
		for _, k := range s.Strokes {
			if s.Action == fault.Pause && len(k.Hit) > 0 {
				gaps = append(gaps, ms(j.gap(k.At, k.At+time.Second)))
			}
		}
	}
	j.rep.Blackout, j.rep.Gap = quantiles(blackouts), quantiles(gaps)
	if worst >= 0 && j.Pauses.At != nil {
		c := j.rep.Cuts[worst]
		from := time.Duration(c.At * 1e9)
		gc, host := j.Pauses.At(from, from+time.Duration(c.BlackoutMS*1e6))
		j.rep.Worst = &Pauses{GC: ms(gc), Host: ms(host)}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// quantiles are nil of nothing. The 99th percentile of a few values is their largest.
func quantiles(v []float64) *Quantiles {
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	at := func(percent int) float64 { return v[(len(v)*percent+99)/100-1] }
	return &Quantiles{N: len(v), P50: at(50), P99: at(99), Max: v[len(v)-1]}
}
