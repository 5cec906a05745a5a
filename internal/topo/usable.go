package topo

import (
	"cmp"
	"net/netip"
	"slices"
)

// Choice is a rail with what is to be said about it.
type Choice struct {
	Rail
	Reason string // why it is not used; "" if it may be
	how    rank   // how exactly it was asked for
	order  int    // by which entry
}

// Usable is each rail of this host, usable or with the reason why not: those that were asked for in the order in which they were, then
// the others, faster ones first. A loopback rail is usable towards this host only.
func Usable(v View) []Choice {
	all := v.choices()
	for i := range all {
		c := &all[i]
		if c.Reason == "" {
			c.Reason = c.whyNot(v.Chosen)
		}
	}
	slices.SortStableFunc(all, func(a, b Choice) int {
		if (a.Reason == "") != (b.Reason == "") {
			if a.Reason == "" {
				return -1
			}
			return 1
		}
		stays := cmp.Compare(a.Traits&Temporary, b.Traits&Temporary)
		if v.Chosen.positive {
			return cmp.Or(cmp.Compare(a.order, b.order), stays)
		}
		return cmp.Or(cmp.Compare(b.Speed, a.Speed), stays)
	})
	return all
}

// Moves says whether the view that follows is a reason to plan anew: rails of use have changed. So is the same one again, since it is handed on for what
// is not in it, the routes. What comes and goes on a host that runs many guests is none.
func (v View) Moves(next View) bool {
	return slices.Equal(v.Rails, next.Rails) || !slices.Equal(v.usable(true), next.usable(true))
}

// NamesLoopback says whether the lanes within this host were chosen: a loopback rail was named.
func (v View) NamesLoopback() bool {
	return slices.ContainsFunc(v.choices(), func(c Choice) bool {
		return c.Reason == "" && c.how >= byName && (c.has(Loopback) || c.Addr.IsLoopback())
	})
}

// choices is the table with what the selection says. An address that was asked for and that no interface lists is a rail of
// the loopback interface if it is in that one's network; 127.0.0.2 is.
func (v View) choices() (all []Choice) {
	for _, r := range v.Rails {
		how, at, why := v.Chosen.of(r)
		all = append(all, Choice{r, why, how, at})
	}
	for i, e := range v.Chosen.entries {
		if e.not || !e.addr.IsValid() {
			continue
		}
		if _, listed := v.find(e.addr.String()); listed {
			continue
		}
		if r, ok := v.unlisted(e.addr); ok {
			all = append(all, Choice{r, "", byAddress, i})
		}
	}
	return all
}

func (v View) unlisted(a netip.Addr) (Rail, bool) {
	if len(v.Rails) == 0 {
		return Fixed(a.String())[0], true
	}
	for _, r := range v.Rails {
		if r.has(Loopback) && r.Addr.IsValid() && r.prefix().Contains(a) {
			r.Addr = a
			return r, true
		}
	}
	return Rail{}, false
}

// whyNot is why a rail that the selection does not leave out is not used.
func (c *Choice) whyNot(s Selection) string {
	if why := c.state(); why != "" {
		return why
	}
	if c.how == byNobody {
		if c.Addr.IsLinkLocalUnicast() {
			return "link-local: leads to link-local addresses only; name it to use it all the same"
		}
		if why := c.nature(); why != "" {
			return why + "; name it to use it all the same"
		}
	}
	return ""
}

// usable are those that may be used towards other hosts, or towards this one.
func (v View) usable(here bool) (use []Choice) {
	for _, c := range Usable(v) {
		if c.Reason == "" && (here || !c.has(Loopback)) {
			use = append(use, c)
		}
	}
	return use
}

// none is why there is nothing to use; nil if there is.
func (v View) none(here bool) error {
	if v.Chosen.Any() || len(v.usable(here)) > 0 {
		return nil
	}
	e := &NoRailError{Chosen: v.Chosen.String(), Known: v.known()}
	for _, c := range Usable(v) {
		if _, _, why := v.Chosen.of(c.Rail); why == "" {
			reason := c.Reason
			if reason == "" {
				reason = "leads to this host only"
			}
			e.Reasons = append(e.Reasons, c.String()+": "+reason)
		}
	}
	return e
}
