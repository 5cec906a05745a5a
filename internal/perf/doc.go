// Package perf measures the library over its public API, and checks what arrives while it does.
//
//	client process                          server process
//	Client --start: version, test, size --> Server
//	       <-- ready: key of its memory ---
//	  | latency.go   one hop each way  <-->   session.go answers
//	  | window.go    a window of posts --->   session.go counts
//	  | get.go       <--- its memory          nobody counts there
//	  | atomic.go    changes words of it -->  and sums
//	       -- stop ----------------------->
//	       <-- report: what arrived -------
//
// cmd/ and bench may import it.
//
// What is measured follows ucx_perftest, so that its ucp_... tests are what to compare with: a latency is half of a
// round trip; put_lat waits by polling the last eight bytes of the payload; a bandwidth test posts with a window and
// its time ends with the flush. A get is done when its bytes are here, so it needs no flush; with one under way at a time, which
// is the default, its time is a latency: of the whole way there and back, never halved. Percentiles of a bandwidth test are of the time per operation of a stretch of
// operations, since a clock call for each would be part of what is measured.
//
// Atomics change one word, as there; of those that bring the old value the time is of the whole way there and back, too.
//
// Both ends poll while they wait. With Sleep, which the client tells the server, they sleep instead when a turn found nothing to do: what
// the wake-up costs is in the figures then.
//
// Threads have a node, a worker and an endpoint each, towards a server's thread of their own, which has a port of its own. They begin to count when all are
// warm, and their times are one distribution. Operations on lists of buffers are calls that return when the buffers are free: one at a time.
//
// Pairs. The cost of an error mode is compared between two endpoints of one process pair, over equal lanes. A and B take
// turns in blocks of equal work of a few milliseconds each; which one begins is drawn anew for each pair, from a seed. What
// drifts (cores that move apart, other load) hits both blocks of most pairs alike, so the quotient of the two times of one
// pair is taken. Where the memory of two endpoints lies makes a difference of some percent for as long as they live, even
// between two of one mode; so the pairs are spread over couples of endpoints, 80 or one for five pairs, dialed in either order. The result is the median of the
// couples' medians, and its interval the two of these between which the true median lies with 95 % by the binomial distribution of ranks:
// no assumption on how times are distributed, and nothing random. With null, both endpoints have mode none, and the
// interval should contain 1: that is the check of the method itself.
//
// Invariants:
//
//  1. A measured loop allocates nothing, and a bandwidth loop asks for the time once per stretch, not per operation.
//  2. Lost, doubled and corrupt count what memory and handlers saw where data arrives, never what the engine believes.
//  3. Parameters that have no effect are refused, with the reason.
//  4. Who waits notices within a second that the peer has said goodbye, or that it is gone in the modes peer and none; in failover after
//     the setting suspended, which is 2 s here unless somebody sets it. Over rc nothing tells that a process was killed: there it is the setting peer-timeout, 10 s, besides. That something is missing is noticed within a minute.
//  5. A server serves one client at a time; another one is told so, and does not count. A client that goes in the middle of a test broke off: the
//     server says so, and one that serves once ends with an error.
package perf
