package wire

// Changes are the regions of the peer that a frame changes, by their index: one, two if it has a signal, none if it is no such operation.
func Changes(id uint8, head []byte) []uint32 {
	switch id {
	case IDPut:
		if h, err := DecodePut(head); err == nil {
			return []uint32{h.Index}
		}
	case IDPutSignal:
		if h, err := DecodePutSignal(head); err == nil {
			return []uint32{h.Index, h.Signal.Index}
		}
	case IDAtomicOp:
		if h, err := DecodeAtomicOp(head); err == nil {
			return []uint32{h.Index}
		}
	}
	return nil
}

// InOrder says whether a frame has an order promise: it is of a message.
func InOrder(id uint8) bool {
	return id == IDAM || id == IDAMFirst || id == IDAMFrag || id == IDAMLast
}
