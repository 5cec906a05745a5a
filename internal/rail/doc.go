// Package rail reads the rails of this host, and tells when they change.
//
//	Read   the table of addresses and interfaces          Linux: netlink; elsewhere: the standard library
//	Route  where a packet would leave                     Linux: netlink; elsewhere: not known
//	Watch  a goroutine that hands the table on            Linux: netlink, at once; elsewhere: it looks every two seconds
//	       when it has become another one
//
// The root package imports it, and hands what it finds to the engine, which never asks the system itself.
//
// Invariants:
//
//  1. No request waits longer than a second for the system.
//  2. Watch hands on a table after each change, the newest last; changes that come close together may be one.
//  3. After Close of a Watcher returns, no call of it is under way or will come.
package rail
