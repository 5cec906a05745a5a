// Package fault breaks connections on purpose, below a transport that doesn't know: to test and to show what becomes
// of a lane that is lost. Rules have a text; docs/fault.md tells what each word means.
//
//	transport ──> stream ──[ Injector ]──> stream of the system ──> peer
//	              Link, Pipe ·  ^
//	     cut lane=1 kind=reset after=1s for=500ms every=2s count=100
//
// The language:
//
//	plan      = [ rule ] { ( newline | ";" ) [ rule ] } .            a "#" begins a comment that ends with the line
//	rule      = action { word } .                                    each word once, in any order, between blanks
//	action    = "cut" | "drop" share | "duplicate" share | "corrupt" share
//	          | "delay" spread | "rate" rate | "pause"
//	          | "kill" "peer" | "iface" name "down" .
//	word      = where | what | when .
//	where     = "lane=" ( number | name | "random" ) | "rail=" address
//	          | "side=" ( "local" | "remote" | "either" ) | "on=" ( "tcp" | "rc" | "verbs" | "shm" ) | "dir=" ( "tx" | "rx" | "both" ) .
//	what      = "kind=" ( "reset" | "silence" ) | "signal=" ( "kill" | "stop" ) .
//	when      = "when=" ( "now" | "write" | "whole" ) | "after=" time | "for=" time | "every=" spread | "count=" number .
//	spread    = time [ ( "±" | "+-" ) time ] .
//	time      = a duration of Go above 0, as 500ms or 1m30s .
//	share     = decimal "%" .                                        above 0, up to 100
//	rate      = number ( "Gbit" | "Mbit" | "kbit" | "bit" ) .        a second
//	name      = 1 to 15 characters, none of them a blank, ";", "#" or "=" .
//
// Who may import it: programs that inject faults, tests. It imports transport only.
//
// Invariants:
//
//  1. A stream that was cut stays cut, also after the rule is over; new ones on the rail work then.
//  2. A cut stream lets no more byte through, in the directions of the rule; what the system had taken before may still arrive.
//  3. A silent stream tells nobody: its connection is kept open until the rule is over, even if its owner closes it.
//  4. Each rule stamps the moments at which it came into force, and counts what it did; that it did nothing shows.
//  5. Rules come from any goroutine. A descriptor is never touched after its owner closed it, except to close it (3).
//  6. A rule and its text are the same: Parse(r.String()) is r. So it is with plans.
//  7. Delay, rate and pause lose nothing and change no order.
//  8. Locks are taken in this order: the injector's, a connection's, the dice's.
package fault
