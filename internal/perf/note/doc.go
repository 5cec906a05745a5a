// Package note is what client and server of a measurement say to each other, besides what is measured.
//
//	client: Start ──> <── Ready or Refused    Check ──> <── Checked    Stop ──> <── Report
//
// internal/perf imports it. Invariants:
//
//  1. Version and Kind never change their meaning, so that sides of different versions can say so.
//  2. Parse bears any bytes.
package note
