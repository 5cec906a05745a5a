// Package explain is `braid explain`: it dials a peer, and prints how operations would be carried to it.
//
// Who may import it: cmd/braid.
package explain
