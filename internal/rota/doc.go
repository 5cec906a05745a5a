// Package rota says which of a worker's interfaces a turn asks for what has arrived: all of them, unless asking one costs a system call, it has brought
// nothing for long, and others have.
//
//	turn:  shm  shm  shm  ...  shm  tcp      something comes through shared memory, nothing over the sockets
//	                           |<--- rare
//
// internal/worker and transport/mix import it. No clock of its own: the time is handed in.
//
// Invariants:
//
//  1. Who means to sleep has everything looked at: while somebody waits for the descriptors each turn asks all.
//  2. What arrives at an interface is found within Rare plus a turn, and at once if something arrived there in the Quiet before, or nowhere else.
package rota
