package completion

import "github.com/alecthomas/kong"

// FlagsFirst moves the flags of a command in front of its arguments: of arguments that are a list the parser takes only those that stand
// together.
func FlagsFirst(app *kong.Application, args []string) []string {
	p := place{node: app.Node}
	p.pass(args[0])
	flags, rest := args[:1:1], []string{"--"}
	for _, w := range args[1:] {
		value, plain := p.wants != nil, p.plain
		p.pass(w)
		switch {
		case value || !plain && len(w) > 1 && w[0] == '-' && w != "--":
			flags = append(flags, w)
		case plain || w != "--":
			rest = append(rest, w)
		}
	}
	return append(flags, rest...)
}
