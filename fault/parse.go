package fault

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ParseError says what is wrong with the text of a rule or a plan, and where.
type ParseError struct {
	Line, Column int    // from 1; columns are characters
	Word         string // what stands there; "" is the end of the rule
	Want         string // what is legal there
}

func (e *ParseError) Error() string {
	at := "at the end"
	if e.Word != "" {
		at = fmt.Sprintf("at %q", e.Word)
	}
	return fmt.Sprintf("fault: line %d, column %d: %s: want %s", e.Line, e.Column, at, e.Want)
}

// token is a word and where it stands.
type token struct {
	text   string
	column int
}

// reader goes through the words of one rule.
type reader struct {
	words     []token
	line, end int // column behind the last word
}

func (r *reader) bad(want string) *ParseError {
	e := &ParseError{Line: r.line, Column: r.end, Want: want}
	if len(r.words) > 0 {
		e.Word, e.Column = r.words[0].text, r.words[0].column
	}
	return e
}

// take is the next word, "" if there is none.
func (r *reader) take() string {
	if len(r.words) == 0 {
		return ""
	}
	w := r.words[0].text
	r.words = r.words[1:]
	return w
}

func (r *reader) peek() string {
	if len(r.words) == 0 {
		return ""
	}
	return r.words[0].text
}

// split finds the words of a text that begins at a column.
func split(text string, line, column int) *reader {
	r := &reader{line: line, end: column}
	for len(text) > 0 {
		rest := strings.TrimLeft(text, " \t\r")
		column += len(text) - len(rest) // blanks are of one byte
		if rest == "" {
			break
		}
		n := strings.IndexAny(rest, " \t\r")
		if n < 0 {
			n = len(rest)
		}
		r.words = append(r.words, token{rest[:n], column})
		column += utf8.RuneCountInString(rest[:n])
		r.end, text = column, rest[n:]
	}
	return r
}

// Parse reads one rule as String writes it. The order of the words with "=" doesn't matter.
//
// Errors: *ParseError.
func Parse(text string) (Rule, error) {
	if n := strings.IndexAny(text, "\n;#"); n >= 0 {
		return Rule{}, &ParseError{Line: 1, Column: utf8.RuneCountInString(text[:n]) + 1, Word: text[n : n+1], Want: "one rule; a plan may have several"}
	}
	return split(text, 1, 1).rule()
}

// ParsePlan reads rules: one a line, or with ";" between them; "#" begins a comment.
//
// Errors: *ParseError, of the first mistake; a plan without a rule is one.
func ParsePlan(text string) (Plan, error) {
	var p Plan
	line := 0
	for l := range strings.SplitSeq(text, "\n") {
		line++
		l, _, _ = strings.Cut(l, "#")
		column := 1
		for c := range strings.SplitSeq(l, ";") {
			if r := split(c, line, column); len(r.words) > 0 {
				rule, err := r.rule()
				if err != nil {
					return nil, err
				}
				p = append(p, rule)
			}
			column += utf8.RuneCountInString(c) + 1
		}
	}
	if len(p) == 0 {
		return nil, &ParseError{Line: 1, Column: 1, Want: "a rule: " + actionList}
	}
	return p, nil
}

const actionList = "cut, drop, duplicate, corrupt, delay, rate, pause, kill or iface"

// rule reads all words as one rule.
func (r *reader) rule() (Rule, error) {
	var rule Rule
	first := *r
	if !pick(&rule.Action, r.peek(), actionWords[:]) {
		return Rule{}, r.bad(actionList)
	}
	r.take()
	if err := r.argument(&rule); err != nil {
		return Rule{}, err
	}
	seen := map[string]token{}
	for len(r.words) > 0 {
		key, value, _ := strings.Cut(r.peek(), "=")
		w := find(key, rule.Action)
		switch {
		case w == nil:
			return Rule{}, r.bad(legal(rule.Action))
		case seen[key] != token{}:
			return Rule{}, r.bad(key + "= once")
		case !w.set(&rule, value):
			return Rule{}, r.bad(key + "=" + w.want)
		}
		seen[key] = r.words[0]
		r.take()
	}
	if key, want := rule.conflict(seen); want != "" {
		if t, ok := seen[key]; ok {
			r.words = []token{t}
		} else {
			first.words = first.words[:1]
			if key != "" {
				r.words = first.words
			}
		}
		return Rule{}, r.bad(want)
	}
	return rule, nil
}

// argument reads what stands right behind the action.
func (r *reader) argument(rule *Rule) error {
	ok, want := true, ""
	switch rule.Action {
	case Drop, Duplicate, Corrupt:
		ok, want = percent(&rule.Percent, r.peek()), "a share, as 1% or 0.5%"
	case Delay:
		ok, want = spanned(&rule.Delay, &rule.Jitter, r.peek()), "a time, as 5ms or 5ms±2ms"
	case Throttle:
		ok, want = rate(&rule.Rate, r.peek()), "a rate, as 1Gbit, 100Mbit, 64kbit or 9600bit"
	case Kill:
		ok, want = r.peek() == "peer", "peer"
	case Iface:
		if rule.Device = r.peek(); !device(rule.Device) {
			return r.bad("the name of an interface")
		}
		r.take()
		ok, want = r.peek() == "down", "down"
	case Cut, Pause:
		return nil
	}
	if !ok {
		return r.bad(want)
	}
	r.take()
	return nil
}

// conflict says which words don't go together: where, and what is wanted. An empty place is the end.
func (r *Rule) conflict(seen map[string]token) (at, want string) {
	_, kind := seen["kind"]
	switch {
	case r.Action == Cut && !kind:
		return "", "kind=reset or kind=silence"
	case r.Action == Cut && r.Kind == Reset && r.Dir != Both:
		return "dir", "kind=silence beside dir=, for a reset is seen by both sides"
	case r.Action == Corrupt && r.Dir == Tx:
		return "dir", "dir=rx: what is sent is sealed when it leaves, and what changes before that is right"
	case r.On != "" && r.unfit(r.On) != "":
		return "on", "another one: " + r.unfit(r.On)
	case r.Start == Write && r.Action != Cut:
		return "when", "when=now or when=whole: only a cut can be in the middle of a write"
	case r.Side != Local && r.Rail == "":
		return "side", "rail= beside side="
	case r.Spread >= r.Every && r.Every > 0:
		return "every", "a variation that is smaller than the time"
	case r.Every > 0 && r.For == 0 && !(r.Action == Kill && !r.Stop):
		return "every", "for= beside every="
	case r.Every > 0 && r.For >= r.Every-r.Spread:
		return "for", "a time that is shorter than every="
	case r.Count > 1 && r.Every == 0:
		return "count", "every= beside count="
	case r.For > 0 && r.Action == Kill && !r.Stop:
		return "for", "signal=stop beside for=: who is killed stays dead"
	}
	return "", ""
}
