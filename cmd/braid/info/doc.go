// Package info is `braid info`: its flags, and its tables. What it shows is internal/info.
//
// Who may import it: cmd/braid.
package info
