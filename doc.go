// Package braid is fault-tolerant, multi-lane communication between processes, in Go alone: active messages
// and one-sided puts over several connections at once, of which any may die at any time without an
// operation being lost or done twice.
//
//	Node      transports, memory, configuration of one process
//	  Worker    makes progress for its endpoints
//	    Endpoint  one peer ====== lane ====== lane ====== ... over TCP, on several addresses
//	  Memory    what peers may write, with keys
//
// A listening side:
//
//	ln, err := braid.Listen(":7777")            // loopback, unless a host is given
//	ln.Worker().HandleAM(7, func(m *braid.Message) { ... m.Endpoint() is who to answer ... })
//	ep, err := ln.Accept(ctx)
//
// A dialing side:
//
//	ep, err := braid.Dial(ctx, "localhost:7777")
//	err = ep.SendAM(ctx, 7, header, payload)    // sent: the buffers are yours again
//	err = ep.Flush(ctx)                         // executed at the peer, whatever lanes did meanwhile
//
// Limits, times and the like are Options; people can set them too, by files and variables, if the program asks for it (FromEnv).
//
// Everybody may import it. docs/ explains how it works, ARCHITECTURE.md where things are.
//
// Invariants, for the error mode Failover:
//
//  1. Each operation ends exactly once, and is executed at most once.
//  2. An operation that a successful Flush covers was executed exactly once.
//  3. After an operation has ended with an error whose Fate is NotExecuted, nothing of it is done at the peer.
//  4. Messages of one endpoint are handled in the order in which they were posted.
//  5. Handlers and callbacks run between turns, one at a time per worker.
package braid
