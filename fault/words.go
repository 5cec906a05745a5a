package fault

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// keyword is one word with "=".
type keyword struct {
	name string
	want string
	of   uint16 // actions, by bit
	set  func(r *Rule, value string) bool
}

func bits(actions ...Action) (m uint16) {
	for _, a := range actions {
		m |= 1 << a
	}
	return m
}

var (
	toLanes = bits(Cut, Drop, Duplicate, Corrupt, Delay, Throttle, Pause)
	toAll   = toLanes | bits(Kill, Iface)
	// toPackets are done to what is sent piece by piece.
	toPackets = bits(Drop, Duplicate, Corrupt, Delay, Throttle)
)

var keywords = []keyword{
	{"lane", "NUMBER, DEVICE or random", toLanes, func(r *Rule, v string) bool {
		if n, err := strconv.ParseUint(v, 10, 16); err == nil {
			v = strconv.FormatUint(n, 10)
		}
		r.Lane = v
		return device(v)
	}},
	{"rail", "ADDRESS, an IP address without a port", toLanes, func(r *Rule, v string) bool {
		ip, err := netip.ParseAddr(v)
		if err == nil && strings.ContainsFunc(ip.Zone(), special) {
			return false
		}
		r.Rail = ip.String()
		return err == nil
	}},
	{"kind", "reset or silence", bits(Cut), func(r *Rule, v string) bool { return pick(&r.Kind, v, kindWords[:]) }},
	{"side", "local, remote or either", toLanes, func(r *Rule, v string) bool { return pick(&r.Side, v, sideWords[:]) }},
	{"on", "tcp, rc, verbs or shm", toLanes, func(r *Rule, v string) bool { r.On = v; return slices.Contains(kinds[:], v) }},
	{"dir", "tx, rx or both", toLanes, func(r *Rule, v string) bool { return pick(&r.Dir, v, dirWords[:]) }},
	{"signal", "kill or stop", bits(Kill), func(r *Rule, v string) bool { r.Stop = v == "stop"; return r.Stop || v == "kill" }},
	{"when", "now, write or whole", toLanes, func(r *Rule, v string) bool { return pick(&r.Start, v, startWords[:]) }},
	{"after", "TIME, as 1s or 500ms", toAll, func(r *Rule, v string) bool { return duration(&r.After, v) }},
	{"for", "TIME, as 1s or 500ms", toAll, func(r *Rule, v string) bool { return duration(&r.For, v) }},
	{"every", "TIME, as 2s or 2s±500ms", toAll, func(r *Rule, v string) bool { return spanned(&r.Every, &r.Spread, v) }},
	{"count", "NUMBER, 1 to a million", toAll, func(r *Rule, v string) bool {
		n, err := strconv.Atoi(v)
		r.Count = n
		return err == nil && n >= 1 && n <= 1_000_000
	}},
}

func find(name string, a Action) *keyword {
	for i := range keywords {
		if k := &keywords[i]; k.name == name && k.of&(1<<a) != 0 {
			return k
		}
	}
	return nil
}

// legal lists the words that an action takes.
func legal(a Action) string {
	var names []string
	for _, k := range keywords {
		if k.of&(1<<a) != 0 {
			names = append(names, k.name+"=")
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func pick[T ~uint8](to *T, value string, of []string) bool {
	for i, w := range of {
		if w == value {
			*to = T(i)
			return true
		}
	}
	return false
}

// special are the characters that mean something in a plan.
func special(c rune) bool { return strings.ContainsRune(" \t\r\n;#=", c) || c < ' ' || c == '\uFFFD' }

// device says whether a name can be one of an interface.
func device(name string) bool {
	return name != "" && len(name) <= 15 && !strings.ContainsFunc(name, special)
}

// longest is what a time may be: what is beyond is a slip of the pen.
const longest = 365 * 24 * time.Hour

func duration(to *time.Duration, text string) bool {
	d, err := time.ParseDuration(text)
	*to = d
	return err == nil && d > 0 && d <= longest
}

// spanned reads a time, with or without how much it varies.
func spanned(to, by *time.Duration, text string) bool {
	mean, vary, both := strings.Cut(strings.Replace(text, "+-", "±", 1), "±")
	if both && !duration(by, vary) {
		return false
	}
	return duration(to, mean) && *by <= *to
}

func percent(to *float64, text string) bool {
	digits, ok := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(digits, 64)
	*to = v
	return ok && err == nil && v > 0 && v <= 100 && !strings.ContainsAny(digits, "xXpP_")
}

func rate(to *int64, text string) bool {
	for _, u := range units {
		if digits, ok := strings.CutSuffix(text, u.name); ok {
			n, err := strconv.ParseUint(digits, 10, 40)
			*to = int64(n) * u.bits
			return err == nil && n > 0 && n <= uint64(1e12/u.bits)
		}
	}
	return false
}
