// Package weight says what a lane brings: how long something that is posted on it now will take, judged by what it
// carried so far.
//
//	books of the lane, looked at every few milliseconds:  posted, acknowledged
//	        |
//	      Look ──> a stretch of 50 ms and more
//	        |        things waited for the lane: its rate is bytes acknowledged / time in which it had something to do
//	        |        they did not:               its rate is at least bytes acknowledged / time
//	        v
//	      Cost(backlog, size) = round trip + (backlog + size) / rate + what it is late by now
//
// A lane begins with the speed that its interface declares. The post path reads Cost and nothing else: three
// additions and a multiplication. docs/weights.md tells the whole story.
//
// Only internal/outbox imports it. It knows no lane, no clock and no luck: numbers in, numbers out.
//
// Invariants:
//
//  1. The rate is positive and finite, whatever the books say.
//  2. A stretch in which nothing waited for the lane never lowers the rate.
//  3. A lane that is not used is forgiven: its rate rises, but not beyond what it declared or once showed.
package weight
