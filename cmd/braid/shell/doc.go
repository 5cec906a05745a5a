// Package shell is what every sub-command has of the shell that called it: streams, signals, exit statuses, and the words of a command line.
//
//	signals, EPIPE ──> World.Ctx ends ──> the sub-command ends ──> error ──> exit status, by cmd/braid
//
// Who may import it: cmd/braid and its sub-commands.
//
// Invariants:
//
//  1. Who is stopped, or whom nobody reads any more, has its context ended, and clears away what it had begun.
//  2. What ends a command with another status than Failed is one of the errors here.
package shell
