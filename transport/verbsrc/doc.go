// Package verbsrc is rc over adapters (rdma/verbs) in one call. Each port has a device in software beside it, at another UDP port of the same
// address, for the datagrams by which connections are made: adapters keep queue pair 1 to themselves.
//
//	address ──> rdma/verbs: the port with that GID ───────────> connections (UDP port 4791)
//	        ──> rdma/soft/host: the listener's own UDP port ──> datagrams
//
// Programs import it, and internal/carriers.
package verbsrc
