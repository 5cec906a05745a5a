// Package process is `braid inspect` and `braid fault`: what is done to a process that runs already, over its control socket.
//
// Who may import it: cmd/braid.
package process
