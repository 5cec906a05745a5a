// Package rival runs one test with braid's own perftest, and the same with ucx_perftest.
//
//	Load{Test, Size, Iters} ──> Programs.Braid ──> braid perftest --spawn --json     one number
//	                      └───> Programs.UCX ────> ucx_perftest, server and client     the same one
//
// bench and bench/peers import it.
//
// Invariants:
//
//  1. Both get the same processors, and the same size, window and counts where these exist.
//  2. A rival that is not installed is said to be missing, with how to get it.
package rival
