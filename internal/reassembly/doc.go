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
//  3. A fragment out of bounds, of an unknown message, or overlapping what arrived is an error and changes nothing.
package reassembly
