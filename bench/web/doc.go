// Package web is the two ends of what programs do over connections: HTTP and gRPC, over braid's streams or over TCP, and nothing else differs.
//
//	client --- GET, or a unary call ---> server       lat: 8 bytes back, one at a time
//	       <-- body, or messages -------              bw: 16 MiB in one answer, one after the other
//
// The bench command runs each end in a process of its own. Nobody else imports it.
package web
