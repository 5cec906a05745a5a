package demo

import (
	"fmt"
	"time"
)

// book is what the orchestrator knows of the run, from both children.
type book struct {
	rails    rails
	begun    time.Duration
	cuts     []cutStamp
	rail     map[string]int    // lane instance -> rail
	sender   []laneEvent       // in order
	receiver []laneEvent       // in order
	dead     map[string]uint64 // receiver: bytes accepted on an instance that is lost
	live     map[string]uint64 // the same, of those that are up, when it last told
	sent     *sentResult
	checked  *checkResult
}

func newBook(r rails) *book {
	return &book{rails: r, rail: map[string]int{}, dead: map[string]uint64{}, live: map[string]uint64{}}
}

// complete says whether both sides have said their last word. Events that belong to it came before.
func (b *book) complete() bool { return b.sent != nil && b.checked != nil }

func (b *book) cut(c cutStamp) { b.cuts = append(b.cuts, c) }

// event notes an event, and returns it with its rail.
func (b *book) event(e laneEvent, sender bool) laneEvent {
	if !sender {
		b.receiver = append(b.receiver, e)
		if e.Kind == "LaneDown" {
			b.dead[e.Instance] = e.Accepted
			delete(b.live, e.Instance)
		}
		return e
	}
	if e.Rail >= 0 {
		b.rail[e.Instance] = e.Rail
	}
	b.sender = append(b.sender, e)
	return e
}

// bytes is what came over each rail, with what the receiver says now about the lanes that are up.
func (b *book) bytes(live map[string]uint64) (of [lanes]uint64) {
	for id, n := range live {
		if _, lost := b.dead[id]; !lost {
			b.live[id] = n
		}
	}
	for _, m := range []map[string]uint64{b.dead, b.live} {
		for id, n := range m {
			if rail, known := b.rail[id]; known {
				of[rail] += n
			}
		}
	}
	return of
}

// explain adds to an error what is known about its reasons.
func (b *book) explain(err error) error {
	for _, c := range b.cuts {
		if find(b.sender, "LaneDown", func(e laneEvent) bool { return e.Rail == c.Rail && e.At >= c.At }) == nil {
			err = fmt.Errorf("%w (lane %s was cut by %s and nobody noticed)", err, b.rails.Names[c.Rail], c.Kind)
		}
	}
	return err
}

// find is the first event of a kind that matches.
func find(events []laneEvent, kind string, match func(laneEvent) bool) *laneEvent {
	for i := range events {
		if e := &events[i]; e.Kind == kind && match(*e) {
			return e
		}
	}
	return nil
}

func ofInstance(id string) func(laneEvent) bool {
	return func(e laneEvent) bool { return e.Instance == id }
}
