// Package datagrams streams over UDP: WRITEs of devices in software, or datagrams of the same size in the same batches and nothing else.
//
//	client ── datagrams ──> server      what they must tell each other goes over a connection that stands
//	   └─────<── counts ──────┘
//
// bench imports it.
package datagrams
