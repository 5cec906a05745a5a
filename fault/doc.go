// Package fault cuts connections on purpose, below a transport that doesn't know: to test and to show what becomes
// of a lane that is lost.
//
//	transport ──> stream ──[ Injector ]──> stream of the system ──> peer
//	                            ^
//	     cut rail=10.0.0.1 kind=reset for=500ms
//
// Who may import it: programs that inject faults, tests. It imports transport only.
//
// Invariants:
//
//  1. A stream that was cut stays cut, also after the rule is over; new ones on the rail work then.
//  2. A cut stream lets no more byte through, in neither direction; what the system had taken before may still arrive.
//  3. A silent stream tells nobody: its connection is kept open until the rule is over, even if its owner closes it.
//  4. Each rule stamps the moment at which it came into force, and counts what it hit; that it hit nothing shows.
//  5. Rules come from any goroutine. A descriptor is never touched after its owner closed it, except to close it (3).
//  6. A rule and its text are the same: Parse(r.String()) is r.
package fault
