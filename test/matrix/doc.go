// Package matrix carries every family of operations over every transport, number of lanes and size at which something changes, expected and not, with
// and without a lane that is cut meanwhile, and compares what arrives byte by byte.
//
//	families × media × {1, 2, 4} lanes × sizes × {expected, unexpected} × {whole, cut} ── world ──> equal, or not
//
// It is a program over package braid, as users write them; nothing imports it. A part of it runs with all other tests, the whole by
// `make matrix`. Invariants: a cell is counted once its bytes were compared; where lanes are to be cut, some were;
// the sizes of a family are next to each limit that the endpoint goes by, as package explain tells them.
package matrix
