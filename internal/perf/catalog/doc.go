// Package catalog is the table of tests: what each is called, and what kind of operation it measures.
//
//	"ucp_put_lat" ── Lookup ──> Test{Put, Latency}
//
// internal/perf and its commands import it. Pure. Invariants: a name is one test's; each has a window of one operation or more.
package catalog
