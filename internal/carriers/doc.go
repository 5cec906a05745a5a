// Package carriers makes what carries lanes over the network, as the settings choose: tcp, or rc over RDMA devices, in software or adapters; and within this host: shm.
//
//	settings ──> Network ──> transport
//	         ──> Here ─────> none, or shm
//
// The root package imports it, and programs that show what there is.
package carriers
