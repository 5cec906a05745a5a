// Package match brings together what was sent with a tag and who wants to receive it.
//
//	Arrive(tag, from) --> the earliest posted want that it satisfies, or it waits
//	Post(want)        --> the earliest waiting arrival that satisfies it, or it is posted
//
//	posted    exact, by tag: buckets     others: one list     for one sender alone: exact, by both: buckets; others: its list
//	waiting   by tag: buckets            all: one list        its sender's: one list
//
// Each list is in the order of posting or of arrival.
//
// Only the engine imports it. It knows no bytes, no peers, and no time.
//
// Invariants:
//
//  1. No want that is posted is satisfied by an arrival that waits.
//  2. An arrival goes to the earliest want that it satisfies; a want gets the earliest arrival that satisfies it. So what one
//     sender sends with tags that one want takes is received in the order in which it arrived.
//  3. In the steady state nothing is allocated. Exact tags cost the same however many others there are, as long as they differ; so does
//     what one sender's arrivals and wants cost, however many others' there are.
//  4. Which tags share a bucket is by a seed that peers don't know.
package match
