// Package transporttest is the conformance suite of package transport: what passes it can
// carry braid's lanes. A transport's own test makes a Factory and calls Run.
//
//	Run ── one subtest per promise ──> world ── Progress, Flush ──> Client ─┐
//	                                     │                                  │ transport
//	                                     └────── Progress, Flush ──> Server ─┘ under test
//	                                     └────── Advance, when nobody had anything to do
//
// Who may import it: tests of transports only.
//
// Invariants:
//
//  1. The suite uses the contract alone; what it needs below it (a cut, a raw connection) is a hook
//     of Pair, and a case whose hook is missing is skipped with the reason.
//  2. Every turn checks the books: acked <= accepted <= posted, each frame in order, each
//     completion once, no callback outside of Progress, none after Close.
//  3. A wait has a bound; when it ends the test says what it was waiting for and both sides' books.
package transporttest
