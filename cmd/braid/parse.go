package main

import (
	"github.com/alecthomas/kong"

	"github.com/openbraid/braid/cmd/braid/completion"
	"github.com/openbraid/braid/cmd/braid/perftest"
	"github.com/openbraid/braid/cmd/braid/shell"
)

// parse is the parser with an eye on letters that people know from ucx_perftest: it would only say that it doesn't.
func parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	if len(args) > 0 && args[0] == "perftest" {
		if err := perftest.Refuse(args[1:]); err != nil {
			return nil, err
		}
	}
	if len(args) > 0 && args[0] != "send" { // whose paths may begin so
		args = shell.JoinNumbers(args)
	}
	if len(args) > 0 && args[0] == "send" {
		args = completion.FlagsFirst(parser.Model, args)
	}
	return parser.Parse(args)
}
