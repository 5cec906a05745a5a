// Package puts is the memory into which a measurement puts: where each put goes, how its end is seen there, and whether it is what was sent.
//
//	Lane of a ping-pong    | payload ........ its last word counts |      polled: the pieces of a large put come in any order
//	  with signals         | payload ........ | counter |                 polled: all of the payload is there
//	Board of many          | payload | payload | payload ...              looked at when all are executed
//	  with signals         | payload | word | payload | word ...          and each as soon as its word says so
//
// internal/perf imports it.
//
// Invariants:
//
//  1. What a signal announces is looked at once it is seen, without any patience: the bytes are there, or they are corrupt.
//  2. A signal adds: one that comes twice shows in its word, as one that never comes does.
package puts
