// Package wire has every byte that transport/rc sends: the headers of segments and of the frames in them, and the messages by
// which connections are made.
//
//	SEND      |segment header|frame header|head|payload|frame header| …
//	datagram  |message|
//
// transport/rc imports it. Pure.
//
// Invariants:
//
//  1. What parses and is valid is written back as it was.
package wire
