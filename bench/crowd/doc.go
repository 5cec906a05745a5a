// Package crowd is what many endpoints cost: those that are there at once, those that come and go, and messages that nobody receives.
//
//	Cycles       connect, say something, close: what is left of it, on both sides
//	Turns        how long a turn of a worker takes while many of its endpoints come and go
//	Unexpected   what a tagged message keeps until it is received, and where the sender is stopped
//
// The command bench imports it. Everything is in one process, over TCP.
package crowd
