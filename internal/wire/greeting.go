package wire

// greeting is what Hello and HelloAck are made of; a shape says which of its fields a message has.
type greeting struct {
	h     Hello
	key   JoinKey
	addrs []string
}

const (
	alwaysThere = 1<<1 | 1<<2 | 1<<4 | 1<<5 | 1<<6 // instance, self, nonce, mode, limits
	oftenThere  = 1 << 9                           // name
)

var (
	helloShape = shape{
		message: "Hello",
		must:    alwaysThere | 1<<8,
		may:     alwaysThere | oftenThere | 1<<8 | 1<<3 | 1<<11, // timers, peer, join proof
	}
	helloAckShape = shape{
		message: "HelloAck",
		must:    alwaysThere,
		may:     alwaysThere | oftenThere | 1<<7 | 1<<10 | 1<<11, // join key, addresses, join proof
	}
)

// appendTo writes the fields in ascending order. What is zero and may be left out is left out: there is
// one way only to say a thing.
func (g *greeting) appendTo(b []byte, s *shape) []byte {
	h := &g.h
	b = le.AppendUint32(b, uint32(h.Required))
	b = le.AppendUint32(b, uint32(h.Optional))

	b = h.Instance.appendTo(appendTLV(b, tlvInstance, instanceSize))
	b = appendPair(appendTLV(b, tlvSelf, 16), h.Incarnation, h.Endpoint)
	if s.has(tlvPeer) && h.PeerIncarnation|h.PeerEndpoint != 0 {
		b = appendPair(appendTLV(b, tlvPeer, 16), h.PeerIncarnation, h.PeerEndpoint)
	}
	b = append(appendTLV(b, tlvNonce, 16), h.Nonce[:]...)
	b = append(appendTLV(b, tlvMode, 1), byte(h.Mode))

	b = appendTLV(b, tlvLimits, 24)
	b = le.AppendUint32(b, h.MaxFrame)
	b = le.AppendUint32(b, h.ReplyCredits)
	b = appendPair(b, h.MaxMessage, h.Backlog)
	if s.has(tlvJoinKey) && !g.key.IsZero() {
		b = append(appendTLV(b, tlvJoinKey, 16), g.key[:]...)
	}
	if s.has(tlvTimers) {
		b = appendTLV(b, tlvTimers, 8)
		b = le.AppendUint32(b, h.Keepalive)
		b = le.AppendUint32(b, h.PeerTimeout)
	}
	if h.Name != "" {
		start := len(b)
		b = appendText(appendTLV(b, tlvName, 0), h.Name, MaxName)
		sizeTLV(b, start)
	}
	if s.has(tlvAddrs) {
		b = appendAddrs(b, g.addrs)
	}
	if s.has(tlvJoin) && h.Join != (JoinProof{}) {
		b = append(appendTLV(b, tlvJoin, 16), h.Join[:]...)
	}
	return b
}

func appendPair(b []byte, x, y uint64) []byte {
	return le.AppendUint64(le.AppendUint64(b, x), y)
}

// appendAddrs appends the field of addresses, or nothing.
func appendAddrs(b []byte, addrs []string) []byte {
	start := len(b)
	b, n := appendAddrList(appendTLV(b, tlvAddrs, 0), addrs)
	if n == 0 {
		return b[:start]
	}
	sizeTLV(b, start)
	return b
}

// appendAddrList appends addresses, each as length u8 and characters, and says how many there are.
func appendAddrList(b []byte, addrs []string) (_ []byte, n int) {
	for _, a := range addrs {
		if n == MaxAddrs {
			break
		}
		if ValidAddr(a) {
			b = append(append(b, byte(len(a))), a...)
			n++
		}
	}
	return b, n
}

func (g *greeting) decode(b []byte, s *shape) error {
	if err := s.check(b); err != nil {
		return err
	}
	g.h.Required, g.h.Optional = Caps(le.Uint32(b)), Caps(le.Uint32(b[4:]))
	var seen uint32
	for off := capsSize; off < len(b); {
		typ, body, err := s.next(b, off)
		if err != nil {
			return err
		}
		known, err := s.known(typ, body, off)
		if err != nil {
			return err
		}
		start := off + tlvHeaderSize
		off = start + len(body)
		if !known {
			continue
		}
		if err := g.field(s.message, typ, b[:off], start); err != nil {
			return err
		}
		seen |= tlvBit(typ)
	}
	return s.missing(seen, len(b))
}

// field reads the body b[start:] of a known field, whose length is right.
func (g *greeting) field(message string, typ uint16, b []byte, start int) (err error) {
	h, body := &g.h, b[start:]
	switch typ {
	case tlvInstance:
		h.Instance, err = instanceAt(message, b, start)
	case tlvSelf:
		h.Incarnation, h.Endpoint, err = identityAt(message, b, start)
	case tlvPeer:
		h.PeerIncarnation, h.PeerEndpoint, err = identityAt(message, b, start)
	case tlvNonce:
		copy(h.Nonce[:], body)
	case tlvMode:
		if h.Mode = Mode(body[0]); h.Mode > ModeFailover {
			err = bad(message, start, "mode is unknown")
		}
	case tlvLimits:
		h.MaxFrame, h.ReplyCredits = le.Uint32(body), le.Uint32(body[4:])
		h.MaxMessage, h.Backlog = le.Uint64(body[8:]), le.Uint64(body[16:])
	case tlvJoinKey:
		if copy(g.key[:], body); g.key.IsZero() {
			err = bad(message, start, "join key is zero, it must be left out then")
		}
	case tlvJoin:
		if copy(h.Join[:], body); h.Join == (JoinProof{}) {
			err = bad(message, start, "join proof is zero, it must be left out then")
		}
	case tlvTimers:
		h.Keepalive, h.PeerTimeout = le.Uint32(body), le.Uint32(body[4:])
	case tlvName:
		if h.Name = string(body); !ValidName(h.Name) {
			err = bad(message, start, "name is not text that can be shown")
		}
	case tlvAddrs:
		g.addrs, err = addrsAt(message, b, start)
	}
	return err
}

// identityAt reads an incarnation and an endpoint id. An incarnation is never 0: that would be "not known yet".
func identityAt(message string, b []byte, off int) (incarnation, endpoint uint64, err error) {
	incarnation, endpoint = le.Uint64(b[off:]), le.Uint64(b[off+8:])
	if incarnation == 0 {
		err = bad(message, off, "incarnation is 0")
	}
	return incarnation, endpoint, err
}

func addrsAt(message string, b []byte, off int) ([]string, error) {
	addrs := make([]string, 0, MaxAddrs)
	for off < len(b) {
		if len(addrs) == MaxAddrs {
			return nil, bad(message, off, "too many addresses")
		}
		size := int(b[off])
		off++
		if size > len(b)-off {
			return nil, bad(message, off-1, "an address is longer than its field")
		}
		a := string(b[off : off+size])
		if !ValidAddr(a) {
			return nil, bad(message, off-1, "an address is empty, too long or not printable")
		}
		addrs = append(addrs, a)
		off += size
	}
	return addrs, nil
}
