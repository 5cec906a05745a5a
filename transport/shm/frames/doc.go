// Package frames is private memory for frames: those that are kept until they are acknowledged, and those that arrive.
//
//	Post ──> Keeper.Take ──> in the books, in chunks that several share       Arena.Memory ──> what arrives, in buffers that several share
//	                                                                          Partial ──> of which pieces came, and more will
//
//	control frames ──> Queue ──> the ring, piece by piece                     Acks: what the peer is owed
//
// transport/shm imports it. It knows headers and books, and no connection.
//
// Invariants:
//
//  1. A chunk or a buffer goes back when the last frame in it has ended.
//  2. What is handed out is nobody else's until it is given back.
package frames
