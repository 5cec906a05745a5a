// Package address is what a worker is called by: bytes, or one word of text, that travel by any way and lead to it.
//
//	version 1 | process 8 | worker 8 | count 1 | count x (length 1, "host:port") | what later versions add | CRC-32C 4
//
// The numbers are the worker's name: a process has another one each time it is started, and a worker each time it is made. So an address that is out
// of date leads to nobody else, whoever listens there by then. Integers are little-endian; the text is "braid1." and the bytes in base64url.
//
// The root package and the engine import it. It imports only the standard library.
//
// Invariants:
//
//  1. What Append makes Decode reads; what Decode takes is encoded as what it was, but for what later versions add.
//  2. No byte and no length in what is decoded makes it read or keep more than that.
package address
