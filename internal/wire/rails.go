package wire

// Rails says where its sender listens from now on, in place of the addresses of HelloAck. The side that accepted an
// endpoint sends it when its addresses have changed, to a peer that has CapRails.
type Rails struct {
	Addrs []string // 1 to MaxAddrs, see ValidAddr; AppendTo leaves others out
}

// AppendTo appends the message to b.
func (m Rails) AppendTo(b []byte) []byte {
	start := len(b)
	b, n := appendAddrList(append(b, 0), m.Addrs)
	b[start] = byte(n)
	return b
}

// DecodeRails reads a Rails.
//
// Errors: *FormatError.
func DecodeRails(b []byte) (Rails, error) {
	const name = "Rails"
	switch {
	case len(b) > ControlMax:
		return Rails{}, badSize(name, len(b), ControlMax)
	case len(b) == 0:
		return Rails{}, bad(name, 0, "the count is cut off")
	case b[0] == 0:
		return Rails{}, bad(name, 0, "there is no address")
	}
	addrs, err := addrsAt(name, b, 1)
	if err != nil {
		return Rails{}, err
	}
	if len(addrs) != int(b[0]) {
		return Rails{}, bad(name, 0, "there are not as many addresses as it says")
	}
	return Rails{Addrs: addrs}, nil
}
