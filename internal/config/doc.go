// Package config is the limits and times of a worker, with their defaults.
//
//	Config = Bounds (how much) + Times (how long) + what an endpoint is to look like
//
// Everybody may import it; it imports only the standard library.
//
// Invariants:
//
//  1. After Defaults no bound and no time is zero.
package config
