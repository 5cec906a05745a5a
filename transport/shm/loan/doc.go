// Package loan is memory that one process lends and another one borrows, over a connection between the two: who has it, and how that ends.
//
//	owner:     Desk.Export ──> memory        Lent.Ask(key) ──> descriptor and gate, over the socket ──> Borrowed.Here
//	                Revoke ──> gates shut    Lent.Revoked  ──> keys, over the ring ───────────────────> Borrowed.Recalled
//	borrower:  Borrowed.Find(key) ──> Window: Enter, copy, Leave
//
// What is sent from such memory is read from it by peers, who borrow it without a key of its owner's: Lent.Source, Borrowed.Read.
//
// transport/shm imports it, and hands over what the two sides say. docs/adr/0031-lent-memory.md says why it is as it is.
//
// Invariants:
//
//  1. A gate belongs to one loan, and to another one only when the borrower's socket has ended.
//  2. After Revoke, Lent.Shut and Lent.End nobody passes a gate. Revoke says idle only if nobody is inside, or who was inside is gone.
//  3. Nothing that comes from a peer is mapped before the system was asked what it is.
//  4. Each descriptor is given back: of memory when it is revoked and idle, of a connection when its peer has ended.
//  5. A Desk is safe for concurrent use; Lent and Borrowed belong to the owner of their connection.
package loan
