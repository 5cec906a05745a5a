// Package stream is byte streams over endpoints of several lanes: each is a net.Conn, and goes on when lanes die. net/http and gRPC run over
// them as they are.
//
//	Conn Conn Conn          byte streams, opened by either side
//	  \   |   /
//	  endpoint ====== lane ====== lane      of package braid: lanes die and come back, nothing is lost, nothing is done twice
//
// The side that listens:
//
//	m, err := stream.New(worker, stream.Options{})
//	ln, err := m.Listen("0.0.0.0:8080")         // a net.Listener
//	err = http.Serve(ln, handler)
//
// The side that dials has one endpoint to each address, and as many streams on it as it likes:
//
//	m, err := stream.New(worker, stream.Options{})
//	client := http.Client{Transport: &http.Transport{DialContext: m.DialContext}}
//	cc, err := grpc.NewClient("passthrough:///10.0.0.5:8080", grpc.WithContextDialer(m.Dial), ...)
//
// Whoever has an endpoint opens streams on it himself (Mux.Open). docs/stream.md has the frames, the states and the limits.
//
// It stands above package braid, as programs do.
//
// Invariants:
//
//  1. The bytes of a stream arrive once and in order, whatever lanes do. A stream ends once: with EOF, or with an error that says why.
//  2. A stream that nobody reads stops its own sender and nobody else: handlers never wait for a reader.
//  3. What is kept for readers is bounded: Options.Window for a stream, Options.Streams and Options.Memory for an endpoint.
//  4. When Write returns, the bytes are the caller's again. What it says was written is on its way in front of all that is written later.
//  5. Whatever a peer says, in whatever order, the worst that it can do is to lose its endpoint.
package stream
