package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/perf"
)

// candidate is a word that may stand there.
type candidate struct{ word, text string }

// anyFile and dirs stand for what the shell knows better.
var (
	anyFile = candidate{word: ":files"}
	dirs    = candidate{word: ":dirs"}
)

// complete lists what the last of words can become, given those before it.
func complete(app *kong.Application, words []string) []candidate {
	if len(words) == 0 {
		return nil
	}
	before, current := words[:len(words)-1], words[len(words)-1]
	p := place{node: app.Node}
	for _, w := range before {
		p.pass(w)
	}
	var list []candidate
	switch flag, value, cut := strings.Cut(current, "="); {
	case p.wants != nil:
		list = valuesOf(p.wants, current)
	case !p.plain && cut && strings.HasPrefix(flag, "--"):
		if f := p.flag(flag); f != nil {
			for _, c := range valuesOf(f.Value, value) {
				if c != anyFile && c != dirs { // those the shell completes behind the =
					c.word = flag + "=" + c.word
				}
				list = append(list, c)
			}
		}
	case !p.plain && strings.HasPrefix(current, "-"):
		list = p.flags()
	default:
		list = p.words(current)
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return c != anyFile && c != dirs && !strings.HasPrefix(c.word, current) })
}

// place is where on a command line we are.
type place struct {
	node  *kong.Node
	wants *kong.Value // of a flag whose value comes next
	args  int         // positional arguments so far
	plain bool        // -- came: no flags any more
}

// pass goes over one word.
func (p *place) pass(word string) {
	switch {
	case p.wants != nil:
		p.wants = nil
	case p.plain:
		p.args++
	case word == "--":
		p.plain = true
	case strings.HasPrefix(word, "-") && len(word) > 1:
		if f := p.flag(word); f != nil && !f.IsBool() && !strings.Contains(word, "=") && (strings.HasPrefix(word, "--") || len(word) == 2) {
			p.wants = f.Value
		}
	default:
		for _, child := range p.node.Children {
			if child.Name == word {
				p.node, p.args = child, 0
				return
			}
		}
		p.args++
	}
}

// flag finds the one that a word begins with.
func (p *place) flag(word string) *kong.Flag {
	name, _, _ := strings.Cut(word, "=")
	for _, group := range p.node.AllFlags(false) {
		for _, f := range group {
			if name == "--"+f.Name || name == "--no-"+f.Name && f.Tag.Negatable != "" || f.Short != 0 && strings.HasPrefix(word, "-"+string(f.Short)) && word[1] != '-' {
				return f
			}
		}
	}
	return nil
}

func (p *place) flags() (list []candidate) {
	for _, group := range p.node.AllFlags(true) {
		for _, f := range group {
			list = append(list, candidate{"--" + f.Name, shell.OneLine(f.Help)})
			if f.Tag.Negatable != "" {
				list = append(list, candidate{"--no-" + f.Name, shell.OneLine(f.Help)})
			}
		}
	}
	return list
}

// words are sub-commands, and values of the next argument.
func (p *place) words(current string) (list []candidate) {
	for _, child := range p.node.Children {
		if !child.Hidden {
			list = append(list, candidate{child.Name, shell.OneLine(child.Help)})
		}
	}
	if n := len(p.node.Positional); n > 0 {
		next := p.node.Positional[min(p.args, n-1)]
		if p.args < n || next.IsCumulative() {
			list = append(list, valuesOf(next, current)...)
		}
	}
	return list
}

// valuesOf are those of a flag or argument, as far as they are known.
func valuesOf(v *kong.Value, current string) (list []candidate) {
	switch v.Tag.Get("complete") {
	case "settings":
		return settingsFor(current)
	case "rails":
		return railsFor(current)
	case "keys":
		for _, s := range new(braid.Settings).List() {
			list = append(list, candidate{s.Name, s.Text})
		}
	case "tests":
		for _, t := range perf.Tests() {
			list = append(list, candidate{t[0], t[1]})
		}
	case "modes":
		for _, m := range []braid.ErrorMode{braid.Failover, braid.Peer, braid.None} {
			list = append(list, candidate{m.String(), "error mode"})
		}
	}
	for _, e := range v.EnumSlice() {
		if e != "" {
			list = append(list, candidate{e, ""})
		}
	}
	switch v.Tag.PlaceHolder {
	case "FILE", "PATH":
		list = append(list, anyFile)
	case "DIR":
		list = append(list, dirs)
	}
	return list
}

// settingsFor completes KEY=, and then a value where there are only some.
func settingsFor(current string) (list []candidate) {
	key, value, whole := strings.Cut(current, "=")
	for _, s := range new(braid.Settings).List() {
		switch {
		case s.Value == "unset" || s.Value == "set": // a secret does not belong on a command line
		case !whole:
			list = append(list, candidate{s.Name + "=", s.Text})
		case s.Name == key && key == "rails":
			for _, c := range railsFor(value) {
				list = append(list, candidate{key + "=" + c.word, c.text})
			}
		case s.Name == key:
			words, ok := strings.CutPrefix(s.Grammar, "one of ")
			for word := range strings.SplitSeq(words, ", ") {
				if ok {
					list = append(list, candidate{key + "=" + word, ""})
				}
			}
		}
	}
	return list
}

// railsFor completes the last name of a list of rails: interfaces of this host, once each.
func railsFor(current string) (list []candidate) {
	rails, err := braid.LocalRails()
	if err != nil {
		return nil
	}
	head := current[:strings.LastIndex(current, ",")+1]
	for _, r := range rails {
		c := candidate{head + r.Interface, "interface"}
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}
