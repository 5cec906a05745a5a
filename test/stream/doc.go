// Package stream runs programs over byte streams that never heard of lanes, net/http and gRPC, while lanes are cut.
//
// It has tests only. Nobody imports it.
package stream
