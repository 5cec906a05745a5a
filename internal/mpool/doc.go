// Package mpool is memory that is used again: counted buffers by powers of two.
//
//	Get(size) --> buffer, one reference ... Release --> back in its class, or to the collector
//
// Transports and the engine import it.
//
// Invariants:
//
//  1. A buffer is handed out to one at a time: from Get to its last Release.
//  2. All classes together keep a bounded number of bytes; what was not used for longest goes first.
//  3. Contents are whatever they were: who gets a buffer writes what he reads.
package mpool
