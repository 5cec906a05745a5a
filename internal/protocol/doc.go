// Package protocol says how an operation is carried out: which frames a put or a message becomes.
//
//	request --Next--> frame --(engine posts it)--> Taken ... until Whole
//
//	put      Put[0..n)  Put[n..2n)  ...              any lane, no order
//	get      Get[0..n)  Get[n..2n)  ...              any lane, each answered by one GetData on any lane
//	atomic   AtomicOp                                any lane; one that fetches is answered by one GetData on any lane
//	message  AM                                      one frame
//	         AMFirst  AMFrag  AMFrag  ...            order lane
//	         AMPart AMPart ..., acknowledged, AMLast any lanes, then the order lane
//
// Only the engine imports it.
//
// Invariants:
//
//  1. The frames of a request carry each byte of its payload once, in ascending order.
//  2. Next changes nothing; only Taken moves the request on.
//  3. A frame of a message that has begun keeps the message's id, whatever lanes do.
package protocol
