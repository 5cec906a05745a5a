// Package manual is `braid man`: the manual page, in roff, made of the same texts as --help and docs/settings.md.
//
// Who may import it: cmd/braid.
package manual
