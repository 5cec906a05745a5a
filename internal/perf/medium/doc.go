// Package medium makes what a test runs over, with an injector in front of all of it.
//
//	"tcp", "shm", "rc", "verbs"     one transport
//	"shm+tcp"              several as one: each has an address of its own, and so a lane
//
// internal/perf and the commands import it.
package medium
