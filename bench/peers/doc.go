// Command peers runs braid perftest and ucx_perftest side by side, over each transport that both have, and says what the goals make of it.
//
//	go run ./bench/peers --quick                      what has a goal, three pairs each: ten minutes
//	go run ./bench/peers --tests '^shm/.*_lat'        what has such a name
//	go run ./bench/peers --out DIR                    DIR/peers.json, DIR/peers.txt, a plot by size of each transport
//
// Pairs are those of bench/duel: alternating runs on the same two processors, classified as near or far by a ping-pong of a line before and after. ucx_perftest is
// installed with apt-get when it is missing; UCX_PERFTEST names another one. Ratios hold; figures are those of one machine in one hour.
//
// Invariants:
//
//  1. What can't be compared is in the list of what was skipped, with why.
//  2. A goal is judged by the median of quotients of one class.
package main
