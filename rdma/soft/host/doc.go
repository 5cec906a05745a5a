// Package host opens devices in software on this host: a socket, the clock that is handed in, and numbers and keys that nobody can guess.
//
//	address ──> rdma/soft/udp ──> what stands in front of it ──> rdma/soft
//
// transport/softrc and transport/verbsrc import it.
package host
