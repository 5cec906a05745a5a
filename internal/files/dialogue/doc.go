// Package dialogue is what the two sides of a file transfer say to each other, without I/O: the notes byte by byte, the list of what
// is sent and its rules, how files are cut into pieces, and the lives of the two sides.
//
//	sender                              receiver
//	                              <--   Ready   a receiver is there
//	  Offer   how much            -->
//	  List    what, in order      -->     may it be? is there room for the names?
//	                              <--   Accept  a key, and how many pieces fit under it
//	  piece n, by put             ==>     place n mod window of that memory
//	  Data    n, its digests      -->     hashed, compared, written
//	                              <--   Free    place of n
//	  Finish                      -->     everything gets its name
//	                              <--   Done
//	  Alive, now and then        <-->     Abort ends it, by either side, at any time
//
// Both sides cut the list into pieces by the same rule (Cutter), so a piece needs no offsets and no file numbers. A peer can't name a place to
// write to: the next piece is where it is.
//
// Who may import it: internal/files and what stands below it there. It imports internal/fsm.
//
// Invariants:
//
//  1. What Parse takes, AppendTo writes back byte for byte. Parse keeps nothing of what it was given, and allocates in proportion to it.
//  2. A list that Lister takes names each file once, below a directory that it named before; a name is one component of a path.
//  3. The pieces of a list cover each byte of each file once, in order. A file that is not in one piece begins one.
//  4. No more than window pieces are announced and not freed. Piece n is announced once, and only when piece n-window was freed.
//  5. Whatever a peer says, in whatever order, the answer is a step of the life or an error that ends it.
package dialogue
