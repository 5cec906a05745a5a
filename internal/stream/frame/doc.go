// Package frame is every byte of what two sides say to each other about byte streams. Each frame is the header of an active
// message; the bytes of a stream are the payload of a Data message.
//
//	0      1                 9                17
//	+------+-----------------+----------------+
//	| kind | stream          | total          |   Open, Accept, Window
//	| kind | stream          |                    Data, Fin, Close
//	| kind | stream          | reason ...         Refuse, Reset: up to 256 bytes of printable text
//	+------+-----------------+
//
// Numbers are little-endian. The lowest bit of a stream's number says who opened it: 0, who sends the frame; 1, who gets it.
//
// Who may import it: package stream and internal/stream/flow.
//
// Invariants:
//
//  1. What Parse takes, AppendTo writes back byte for byte. Parse keeps nothing of what it was given but a text, which is copied.
//  2. A frame is of the length that its kind has, and no longer.
package frame
