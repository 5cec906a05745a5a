// Command braid shows, measures and uses the library from a shell.
//
//	shell ──> main: words, statuses ──> one folder a sub-command: flags and printing ──> internal/...
//
//	demo/  perftest/  info/      the sub-commands of these names
//	transfer/                    send and recv
//	connect/                     what all have that listen or dial: --secret-file, --set, --config, --rails; and secret
//	completion/  manual/         completion and man, made of what the others say of themselves
//	shell/                       streams, signals, exit statuses
//
// Tests of whole command lines are here; those of a part are beside it. Nobody imports it.
//
// Invariants:
//
//  1. Flags and printing only: what a sub-command does is a package below.
//  2. Exit status: 0 as promised; 1 something failed, or a promise was broken; 2 the command line can't be; 130 interrupted; 141 who read the result has gone.
//  3. With --json, standard output has one JSON object and nothing else; what is for people goes to standard error.
package main
