// Package completion knows what may come next on a command line of braid, and prints the scripts by which shells ask it.
//
//	words before ──> place: which sub-command, whose value is wanted ──> candidates ──> the shell
//
// What there is it takes from the parser's model, so it never gets old. The same place tells flags from arguments, where the parser is stricter than people are.
//
// Who may import it: cmd/braid.
package completion
