// Package verdict judges a run in which things were broken on purpose: did the injector do what the plan says, and did the lanes
// and the data do what they should? It is pure; docs/fault.md has the rules.
//
//	plan's strokes ──┐
//	events of lanes ─┼──> Judge ──> ok | failover broken | injector had no effect | injector failed | injector died | inconclusive
//	counts, gaps ────┘
//
// Who may import it: programs that break things and want to know.
//
// Invariants:
//
//  1. Nothing is good by default: what was not seen did not happen.
//  2. Of an injector that died, failed, or had no effect nothing is concluded about failover, neither good nor bad.
//  3. A lane may go down only if a rule hit it; one that was cut must go down, be handed over, and be back at the end.
//  4. What a process that had no processor may explain is inconclusive; what is wrong with data never is.
package verdict
