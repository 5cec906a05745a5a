package fault

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Kind is how a connection is cut.
type Kind uint8

const (
	// Reset: both sides read and write errors; new connections are refused.
	Reset Kind = iota
	// Silence: bytes just stop, and nobody is told; new connections never come to stand.
	Silence
)

func (k Kind) String() string {
	switch k {
	case Reset:
		return "reset"
	case Silence:
		return "silence"
	}
	return "kind(?)"
}

// Side is whose address a rule means.
type Side uint8

const (
	// Local: streams whose own address is the rail.
	Local Side = iota
	// Remote: streams to a peer at this address.
	Remote
	// Either of both.
	Either
)

func (s Side) String() string {
	switch s {
	case Local:
		return "local"
	case Remote:
		return "remote"
	case Either:
		return "either"
	}
	return "side(?)"
}

// Rule is one fault. Its text is a line of words:
//
//	cut rail=127.0.0.1 kind=reset for=500ms
//	cut rail=fd00::1 kind=silence side=either when=write
type Rule struct {
	Rail string // host address, without port
	Side Side
	Kind Kind
	// For is how long; 0 is until Heal.
	For time.Duration
	// AtWrite: the rule comes into force with the next write of a stream on the rail, in the middle of it.
	AtWrite bool
}

func (r Rule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cut rail=%s kind=%s", r.Rail, r.Kind)
	if r.Side != Local {
		fmt.Fprintf(&b, " side=%s", r.Side)
	}
	if r.AtWrite {
		b.WriteString(" when=write")
	}
	if r.For > 0 {
		fmt.Fprintf(&b, " for=%s", r.For)
	}
	return b.String()
}

// ParseError says what is wrong with the text of a rule.
type ParseError struct {
	Text string // the rule
	Word string // where
	Want string // what is legal there
}

func (e *ParseError) Error() string {
	return fmt.Sprintf("fault: %q: at %q: want %s", e.Text, e.Word, e.Want)
}

// Parse reads a rule as String writes it. The order of the words behind "cut" doesn't matter.
func Parse(text string) (Rule, error) {
	var r Rule
	words := strings.Fields(text)
	if len(words) == 0 || words[0] != "cut" {
		return r, &ParseError{text, text, "cut rail=ADDRESS kind=reset|silence [side=local|remote|either] [when=now|write] [for=DURATION]"}
	}
	seen := []string{}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		if slices.Contains(seen, key) {
			return Rule{}, &ParseError{text, w, "each word once"}
		}
		seen = append(seen, key)
		if want := r.set(key, value); want != "" {
			return Rule{}, &ParseError{text, w, want}
		}
	}
	for _, k := range []string{"rail", "kind"} {
		if !slices.Contains(seen, k) {
			return Rule{}, &ParseError{text, words[0], k + "="}
		}
	}
	return r, nil
}

// set takes one word; it returns what would be legal, or "".
func (r *Rule) set(key, value string) (want string) {
	switch key {
	case "rail":
		ip, err := netip.ParseAddr(value)
		if err != nil {
			return "rail=ADDRESS, an IP address without a port"
		}
		r.Rail = ip.String()
		return ""
	case "kind":
		return pick(&r.Kind, key, value, Reset, Silence)
	case "side":
		return pick(&r.Side, key, value, Local, Remote, Either)
	case "when":
		r.AtWrite = value == "write"
		if value != "write" && value != "now" {
			return "when=now|write"
		}
		return ""
	case "for":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return "for=DURATION, as 500ms or 2s"
		}
		r.For = d
		return ""
	}
	return "rail=, kind=, side=, when= or for="
}

func pick[T fmt.Stringer](to *T, key, value string, of ...T) (want string) {
	names := make([]string, len(of))
	for i, v := range of {
		if names[i] = v.String(); names[i] == value {
			*to = v
			return ""
		}
	}
	return key + "=" + strings.Join(names, "|")
}

// hits says whether the rule is about a stream between these addresses.
func (r *Rule) hits(local, remote string) bool {
	return r.Side != Remote && host(local) == r.Rail || r.Side != Local && host(remote) == r.Rail
}

// host is an address without its port.
func host(addr string) string {
	if h, _, err := net.SplitHostPort(addr); err == nil {
		return h
	}
	return addr
}
