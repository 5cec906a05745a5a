// Package connect is the flags of every command that listens or dials: the secret, settings, rails; and `braid secret`, which makes one.
//
//	--secret-file, --config, --set, --rails, environment ──> Flags ──> braid.Settings
//
// Who may import it: cmd/braid and its sub-commands.
//
// Invariants:
//
//  1. No secret stands on a command line, or in what is printed.
//  2. What is wrong is an error of the command line, before anything is started. All of it is named, not only the first.
package connect
