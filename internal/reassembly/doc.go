// Package reassembly puts messages of many frames together.
//
//	first{msg, total} -> Begin; fragment{msg, offset} -> Room, Filled ... -> the whole message
//	part{msg, offset, total} -> Part, Room, Filled ...; last{msg} -> Close -> the whole message
//
// Only the engine imports it. Pure: it holds bytes, no connection.
//
// Invariants:
//
//  1. A message is delivered once, when each of its bytes has arrived once.
//  2. Bytes held never exceed the limit; a message that would is refused at its first frame.
//     Each counts as 3 KiB at the least, so that messages of no bytes have no room for ever either.
//  3. A message is not delivered while a fragment of it is still being written: Place holds it until Unplace.
//  4. A fragment out of bounds, of an unknown message, or overlapping what arrived is an error and changes nothing.
//     So is one while a message is in too many pieces: what a fragment costs doesn't grow with what came before.
//  5. A message's header and data stay as they are until the last reference to its Buf is gone; then all three are used again.
package reassembly
