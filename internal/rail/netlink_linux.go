package rail

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// What is read here is rtnetlink: messages of a header, a fixed part by the message's type, and attributes.
//
//	length u32 | type u16 | flags u16 | sequence u32 | port u32 | fixed part | { length u16 | type u16 | body, padded to 4 }...

var native = binary.NativeEndian

const (
	headerSize = unix.NLMSG_HDRLEN
	attrSize   = 4
)

var errTruncated = errors.New("netlink: a message is cut off")

// message is one of a datagram.
type message struct {
	kind uint16
	seq  uint32
	body []byte // fixed part and attributes
}

// messages splits a datagram.
func messages(b []byte) (ms []message, err error) {
	for len(b) > 0 {
		if len(b) < headerSize {
			return ms, errTruncated
		}
		size := int(native.Uint32(b))
		if size < headerSize || size > len(b) {
			return ms, errTruncated
		}
		ms = append(ms, message{native.Uint16(b[4:]), native.Uint32(b[8:]), b[headerSize:size]})
		b = b[min(align(size), len(b)):]
	}
	return ms, nil
}

// attributes calls fn for each attribute behind a fixed part of the given size.
func (m message) attributes(fixed int, fn func(kind uint16, body []byte)) error {
	if len(m.body) < fixed {
		return errTruncated
	}
	return attributes(m.body[fixed:], fn)
}

func attributes(b []byte, fn func(kind uint16, body []byte)) error {
	for len(b) > 0 {
		if len(b) < attrSize {
			return errTruncated
		}
		size := int(native.Uint16(b))
		if size < attrSize || size > len(b) {
			return errTruncated
		}
		fn(native.Uint16(b[2:])&^(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER), b[attrSize:size])
		b = b[min(align(size), len(b)):]
	}
	return nil
}

func align(n int) int { return (n + 3) &^ 3 }

// text is a string that ends with 0, as the kernel has them.
func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// appendAttr appends an attribute.
func appendAttr(b []byte, kind uint16, body []byte) []byte {
	b = native.AppendUint16(b, uint16(attrSize+len(body)))
	b = append(native.AppendUint16(b, kind), body...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// conn is a netlink socket for requests.
type conn struct {
	fd  int
	seq uint32
	buf []byte
}

func dial() (*conn, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	c := &conn{fd: fd, buf: make([]byte, 64<<10)}
	// the kernel answers at once; should it ever not, nobody waits for it for ever
	err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1})
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("netlink: %w", err)
	}
	return c, nil
}

func (c *conn) close() { unix.Close(c.fd) }

// ask sends a request and calls fn for each message of the answer.
func (c *conn) ask(kind, flags uint16, body []byte, fn func(message) error) error {
	c.seq++
	b := native.AppendUint32(nil, uint32(headerSize+len(body)))
	b = native.AppendUint16(native.AppendUint16(b, kind), flags|unix.NLM_F_REQUEST)
	b = append(native.AppendUint32(native.AppendUint32(b, c.seq), 0), body...)
	if err := unix.Sendto(c.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("netlink: %w", err)
	}
	for {
		n, _, err := unix.Recvfrom(c.fd, c.buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("netlink: %w", err)
		}
		ms, err := messages(c.buf[:n])
		if err != nil {
			return err
		}
		for _, m := range ms {
			if m.seq != c.seq {
				continue // of a request that was given up
			}
			switch m.kind {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR:
				return failure(m)
			}
			if err := fn(m); err != nil {
				return err
			}
			if flags&unix.NLM_F_DUMP == 0 {
				return nil
			}
		}
	}
}

// failure is what an error message says; nil if it is none.
func failure(m message) error {
	if len(m.body) < 4 {
		return errTruncated
	}
	if code := int32(native.Uint32(m.body)); code != 0 {
		return fmt.Errorf("netlink: %w", unix.Errno(-code))
	}
	return nil
}
