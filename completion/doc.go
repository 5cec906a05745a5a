// Package completion gathers the ends of many requests, to be taken in batches by whoever looks.
//
//	q := completion.New(worker)
//	for i, block := range blocks {
//		q.Add(uint64(i), ep.PostPut(block, key, offset(i)))   // instead of Wait, Test or Then
//	}
//	for end := range q.All(ctx) {                           // as they end, in any order
//		fmt.Println(end.Token, end.Err)
//	}
//
// or, from a loop of one's own, n := q.Poll(ends[:]).
//
// It stands above package braid, as programs do.
//
// Invariants:
//
//  1. Each request that was added ends once in the queue, whatever becomes of its endpoint or worker.
//  2. Ends come out in the order in which requests ended, also those that had ended when they were added.
//  3. In the steady state nothing is allocated for a request; for a tag receive, a fetch, or with AddInfo, closures.
package completion
