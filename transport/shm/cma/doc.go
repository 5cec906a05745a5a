// Package cma is payloads that the receiver reads from where they stand in the sender's memory (process_vm_readv): one copy instead of two, made by the
// receiver alone.
//
//	sender:    Book.Begin: copy or offer? ── address ──> slot       Book.Acked: how long that took
//	receiver:  Reader.Read(address) ── from a process with that Mark, and no other
//
// It takes no memory of its own and works with all that the sender may read. It costs a system call, and what the system needs to find the pages: where both sides
// have a processor to copy with, two copies at the same time are sooner done than one of this kind; where they share one they are not. So it is measured. docs/shm.md tells
// the whole story, docs/adr/0040-read-in-place.md what is relied on. transport/shm imports it.
//
// Invariants:
//
//  1. What Read returned without an error came from the process that has the mark at its place, from one address space, in one piece after another.
//  2. Book and Chooser know no clock, no connection and no memory: they get times and indices.
//  3. The way changes only after two trials in a row in which the other one was clearly better; trials that are lost become rarer.
package cma
