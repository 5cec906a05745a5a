package main

import (
	"context"
	"fmt"
	"time"

	"github.com/openbraid/braid/bench/crowd"
	"github.com/openbraid/braid/bench/duel"
)

const (
	cycles     = 10_000
	crowded    = 1000
	unexpected = 10_000_000
	messages   = 500_000
)

// crowd measures what many endpoints and many messages cost.
func (b *bench) crowd(ctx context.Context) (rows []duel.Row, err error) {
	add := func(name, unit string, v float64, goal, verdict string) {
		rows = append(rows, duel.Row{Name: name, Unit: unit, Ours: v, Goal: goal, Verdict: verdict})
	}
	if b.wants("crowd/cycles") {
		more, each, err := crowd.Cycles(ctx, cycles)
		if err != nil {
			return rows, err
		}
		verdict := "ok"
		if more.Descriptors > 0 || more.Goroutines > 0 || more.Heap > 64*cycles {
			verdict = "MISSED"
		}
		add("crowd/cycles", "us/cycle", float64(each)/1e3, "flat", verdict)
		add("crowd/cycles/heap", "bytes/cycle", float64(more.Heap)/cycles, "", "")
		add("crowd/cycles/resident", "bytes/cycle", float64(more.Resident)/cycles, "", "")
		add("crowd/cycles/descriptors", "more", float64(more.Descriptors), "", "")
		add("crowd/cycles/goroutines", "more", float64(more.Goroutines), "", "")
	}
	if name := fmt.Sprintf("crowd/turn/%d", crowded); b.wants(name) {
		p50, p99, most, err := crowd.Turns(ctx, crowded, 4*crowded)
		if err != nil {
			return rows, err
		}
		g := duel.AtMost(float64(10*time.Millisecond) / 1e3)
		add(name+"/p50", "us", float64(p50)/1e3, "", "")
		add(name+"/p99", "us", float64(p99)/1e3, g.String(), g.Verdict(float64(p99)/1e3))
		add(name+"/longest", "us", float64(most)/1e3, "", "")
	}
	if b.wants("crowd/unexpected") {
		kept, err := crowd.Unexpected(ctx, unexpected)
		if err != nil {
			return rows, err
		}
		add("crowd/unexpected/8", "bytes/message", kept, "", "")
	}
	if b.wants("crowd/stopped") {
		sent, resident, err := crowd.Stopped(ctx, unexpected)
		if err != nil {
			return rows, err
		}
		verdict := "ok"
		if sent >= unexpected/2 {
			verdict = "MISSED"
		}
		add("crowd/stopped", "messages", float64(sent), "64 MiB", verdict)
		add("crowd/stopped/resident", "bytes", float64(resident), "", "")
	}
	if b.wants("crowd/dead") {
		alive, dead, err := crowd.Dead(ctx, b.Rounds, messages)
		if err != nil {
			return rows, err
		}
		var s duel.Series
		for i := range dead {
			s.Add(float64(dead[i])/messages/1e3, float64(alive[i])/messages/1e3, false)
		}
		row := rowOf(&s, "crowd/dead", "before", duel.AtMost(1.1))
		row.Unit = "us"
		rows = append(rows, row)
	}
	return rows, nil
}
