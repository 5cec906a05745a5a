package transport

// Passer is implemented by an Endpoint whose peer is in the same worker: there is nothing between the two that a frame would have to wait in. Optional: who finds that an
// endpoint is none posts.
type Passer interface {
	// Pass gives a data frame that is not ZeroCopy to the peer's sink before it returns, and counts it on both sides as any. From inside Progress it takes none.
	//
	// Done:   over: executed, and the frame's Done is not called. Taken and not over: as Post with Done, since the peer has said something about it that is to be
	//         heard before. Not taken: something is before it, or in its way, and it is to be posted.
	Pass(f *Frame) (taken, over bool)
}
