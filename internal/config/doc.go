// Package config is everything that can be set: one table of keys, from which defaults, parsing, printing and docs/settings.md come.
//
//	              +- Keys: name, kind, default, bounds, text ---------------------------+
//	              v                                                                     v
//	KEY = VALUE --> Set: what was said, by whom --> Node: values, and defaults --> worker, transports
//	              ^
//	              +- layers: default < program < file < environment < given
//
// A value is written the same way in a file, in the environment and on a command line. A Set knows of each where it was said. It reads
// nothing by itself: bytes and variables are handed in.
//
// Everybody may import it; it imports only the standard library.
//
// Invariants:
//
//  1. After Defaults no bound and no time is zero, but those that lanes, or nothing, decide.
//  2. A value of a higher layer wins, whatever the order in which the layers are read. Within one the later wins.
//  3. What a key prints is what it parses: Parse(Print(v)) = v.
//  4. A value that is wrong changes nothing, and does not hide the others that are wrong.
//  5. A secret is never part of an error, or of what Values says.
package config
