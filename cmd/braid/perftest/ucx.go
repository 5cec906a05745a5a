package perftest

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid/cmd/braid/shell"
)

// zeros refuses counts that nobody can mean: a flag that is left out is what gives the default.
func (t *testFlags) zeros(path []*kong.Path) error {
	for _, p := range path {
		if p.Flag == nil {
			continue
		}
		switch name := p.Flag.Name; {
		case name == "iters" && t.Iters == 0, name == "window" && t.Window == 0, name == "rank" && t.Rank == 0:
			return fmt.Errorf("%s 0: must be above 0; leave it out for the default", flagName(p.Flag))
		}
	}
	return nil
}

// parseLine reads the options of one line of a batch file; what it does not say stays as t has it.
func parseLine(t *testFlags, args []string, idle idleFlags) (*testFlags, error) {
	if err := Refuse(args); err != nil {
		return nil, err
	}
	args = shell.JoinNumbers(args)
	was := *t
	parser, err := kong.New(t, kong.Name(""), kong.NoDefaultHelp(), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		panic(err) // the type is wrong
	}
	k, err := parser.Parse(args)
	if err == nil {
		err = idle.check(k.Path)
	}
	if err == nil {
		err = t.zeros(k.Path)
	}
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for _, p := range k.Path {
		if p.Flag != nil {
			set[p.Flag.Name] = true
		}
	}
	t.keep(was, set)
	return t, nil
}

// keep restores what a line did not set.
func (t *testFlags) keep(was testFlags, set map[string]bool) {
	now := *t
	*t = was
	for name, take := range map[string]func(){
		"test": func() { t.Test = now.Test }, "size": func() { t.Size = now.Size }, "layout": func() { t.Layout = now.Layout }, "header": func() { t.Header = now.Header },
		"iters": func() { t.Iters = now.Iters }, "warmup": func() { t.Warmup = now.Warmup }, "window": func() { t.Window = now.Window },
		"rank": func() { t.Rank = now.Rank }, "verify": func() { t.Verify = now.Verify }, "lent": func() { t.Lent = now.Lent },
	} {
		if set[name] {
			take()
		}
	}
}
