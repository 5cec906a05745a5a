// Package demo is `braid demo`: its flags, and what becomes of its result. What it runs is internal/demo.
//
// Who may import it: cmd/braid.
package demo
