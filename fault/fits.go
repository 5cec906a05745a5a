package fault

import (
	"errors"
	"fmt"
	"slices"
)

// UnfitError says that a rule can't be done to a kind of connection, why, and what to use instead.
type UnfitError struct {
	Rule Rule
	On   string // "tcp", "rc", "verbs" or "shm"
	Why  string
}

func (e *UnfitError) Error() string {
	return fmt.Sprintf("fault: %q can't be done to connections over %s: %s", e.Rule, e.On, e.Why)
}

// Takes says whether the rule can be done to connections of this kind ("tcp", "rc", "verbs", "shm"), and is meant to be.
func (r Rule) Takes(on string) bool {
	return !r.Action.Outside() && (r.On == "" || r.On == on) && r.unfit(on) == ""
}

// Fits says whether the rule can be done to connections of at least one of these kinds; nil if it can, or if it is not about connections at all. What
// fits may still have no effect: that shows in its hits.
//
// Errors: an *UnfitError for each kind to which it can't be done, joined.
func (r Rule) Fits(kinds ...string) error {
	if r.Action.Outside() || len(kinds) == 0 || slices.ContainsFunc(kinds, r.Takes) {
		return nil
	}
	var all []error
	for _, on := range kinds {
		why := r.unfit(on)
		if why == "" {
			why = "it says on=" + r.On
		}
		all = append(all, &UnfitError{r, on, why})
	}
	return errors.Join(all...)
}

// unfit is why an action, or its beginning, is not for a kind of connection; "": it is.
func (r *Rule) unfit(on string) string {
	switch {
	case on == "verbs" && (toPackets>>r.Action&1 != 0 || r.Start == Write):
		return "an adapter sends and receives packets by itself; use cut, pause or iface, with when=now or when=whole"
	case r.Start == Write && on == "rc":
		return "there are datagrams, and no writes that could be cut in the middle; use when=now or when=whole"
	case on == "rc":
		return ""
	}
	switch r.Action {
	case Drop, Duplicate, Corrupt:
		if on == "tcp" {
			return "TCP repairs what happens to packets; use delay, rate or pause"
		}
		return "memory loses nothing; use cut, rate or pause"
	case Delay:
		if on == "shm" {
			return "memory is never late; use rate or pause"
		}
	case Cut, Throttle, Pause, Kill, Iface:
	}
	return ""
}

// Fits says whether every rule of a plan can be done to something that is connected here; nil if so, or if nothing is connected yet.
//
// Errors: those of Rule.Fits.
func (i *Injector) Fits(p Plan) error {
	i.mu.Lock()
	var kinds []string
	for _, c := range i.conns {
		if on := c.base().on; !slices.Contains(kinds, on) {
			kinds = append(kinds, on)
		}
	}
	i.mu.Unlock()
	for _, r := range p {
		if err := r.Fits(kinds...); err != nil {
			return err
		}
	}
	return nil
}
