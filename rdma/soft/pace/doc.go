// Package pace says how much a requester may have under way: by losses, by the responder's receives, and by its answers; and when
// it asks again.
//
//	Flow      packets      grows with what is acknowledged, shrinks with losses
//	Credit    messages     as many as the responder said that it has receives for
//	Segments  READs        as many as the connection was made for
//	RTT       probes       some round trips after the last progress
//
// Only rdma/soft imports it. Pure.
//
// Invariants:
//
//  1. Each always lets something through when nothing is under way, so that none can stop a queue pair for ever.
//  2. Credits are never taken back.
package pace
