// Package echo is a ping-pong between two processes over the standard library's connections, or over the sockets under them.
//
//	program ── Ends ──> itself as a server on processor B ──> its address
//	              └───> itself as a client on processor A ──> one number on standard output
//
// A program that measures calls Role first thing, and does as it is told there. bench and bench/peers import it.
package echo
