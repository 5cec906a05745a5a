// Package plan reads plans of faults from the command line: a file, or their text.
//
// Who may import it: the sub-commands that break things.
package plan
