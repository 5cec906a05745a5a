package tcp

import (
	"bytes"
	"fmt"

	"github.com/openbraid/braid/transport"
)

// strange says what is wrong with a header that isn't valid, for people: mostly it is somebody else's protocol.
func (h header) strange(l limits, raw []byte) error {
	what := ""
	switch name := protocolOf(raw); {
	case name != "":
		what = "the peer sent " + name + "; is it a braid peer?"
	case h.flags&^flagsKnown != 0:
		what = fmt.Sprintf("the peer sent unknown flags %#x, bytes % x; is it a braid peer?", h.flags, raw[:headerLen])
	case h.size > l.frame && l.data:
		what = fmt.Sprintf("the peer sent a frame of %d bytes, agreed are at most %d", h.size, l.frame)
	case h.size > l.frame:
		what = fmt.Sprintf("the peer sent a first frame of %d bytes, at most %d are taken before the handshake is over; is it a braid peer?", h.size, l.frame)
	case uint32(h.head) > h.size || h.head > maxHead:
		what = fmt.Sprintf("the peer sent a head of %d bytes in a frame of %d", h.head, h.size)
	case !l.data && !h.control():
		what = "the peer sent a data frame before the handshake was over"
	default:
		what = fmt.Sprintf("the peer sent frame id 0 with a body, bytes % x", raw[:headerLen])
	}
	return fmt.Errorf("%w: %s", transport.ErrProtocol, what)
}

// protocolOf names what strangers usually say first.
func protocolOf(raw []byte) string {
	known := []struct{ prefix, name string }{
		{"GET ", "an HTTP request"}, {"POST ", "an HTTP request"}, {"PUT ", "an HTTP request"}, {"HEAD ", "an HTTP request"},
		{"OPTIONS ", "an HTTP request"}, {"CONNECT ", "an HTTP request"}, {"DELETE ", "an HTTP request"},
		{"PRI * HTTP/2", "an HTTP/2 preface"}, {"HTTP/", "an HTTP response"}, {"SSH-", "an SSH banner"},
		{"\x16\x03", "a TLS hello"}, {"\x15\x03", "a TLS alert"},
	}
	for _, k := range known {
		if bytes.HasPrefix(raw, []byte(k.prefix)) {
			return k.name
		}
	}
	return ""
}
