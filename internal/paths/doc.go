// Package paths keeps where the lanes of a dialing endpoint run, or should run, and says when a path without a lane is dialed again.
//
//	Begin, Next        the ways on which the first lane is tried, one after the other
//	     |
//	Heard, Changed     where the peer listens; which rails this host has
//	     v
//	  Replan -- topo.Plan --> paths that are to have a lane: Host.Attempt
//	     ^                    paths that stand: left alone; others: forgotten
//	     |
//	  Retry              a path lost its lane: later each time, and only if the present table still says so
//
// The engine imports it: one Set for each endpoint that dialed, one Ground for each worker. It opens no lane itself.
//
// Invariants:
//
//  1. A path whose lane stands, or is being opened, is neither dialed nor forgotten.
//  2. Before a path is dialed again it is planned on the newest table of rails.
//  3. Without any path that the plan wants the old ones are kept and dialed: better a way that may be wrong than none.
//  4. An index is never used again.
package paths
