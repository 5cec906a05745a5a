package packet

import (
	"encoding/binary"
	"io"
	"time"
)

// Watcher sees a datagram that passes. The bytes are valid during the call.
type Watcher func(at time.Duration, f Flow, b []byte)

// Tap writes the packets that pass as a pcap file, which tshark and others read. The network headers are made up as they are
// on the wire, so that the ICRC is right in what is shown.
type Tap struct {
	w   io.Writer
	buf []byte
	err error
}

const linkRaw = 101 // LINKTYPE_RAW: packets begin with an IP header

// NewTap begins a file on w.
func NewTap(w io.Writer) *Tap {
	t := &Tap{w: w}
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b23c4d) // times in nanoseconds
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(b, 1<<18)
	b = le.AppendUint32(b, linkRaw)
	_, t.err = w.Write(b)
	return t
}

// Datagram writes one datagram: it is a Watcher. The identification is 0, as of all that a socket sends one by one.
func (t *Tap) Datagram(at time.Duration, f Flow, b []byte) {
	if t.err != nil {
		return
	}
	le, be := binary.LittleEndian, binary.BigEndian
	v4 := f.Dst.Addr().Is4()
	ip := 40
	if v4 {
		ip = 20
	}
	n := ip + 8 + len(b)
	p := le.AppendUint32(t.buf[:0], uint32(at/time.Second))
	p = le.AppendUint32(p, uint32(at%time.Second))
	p = le.AppendUint32(p, uint32(n))
	p = le.AppendUint32(p, uint32(n))
	if v4 {
		src, dst := f.Src.Addr().As4(), f.Dst.Addr().As4()
		p = append(p, 0x45, 0)
		p = be.AppendUint16(p, uint16(n))
		p = append(p, 0, 0, 0x40, 0, 64, 17, 0, 0)
		p = append(append(p, src[:]...), dst[:]...)
		head := p[len(p)-20:]
		be.PutUint16(head[10:], ^fold(head))
	} else {
		src, dst := f.Src.Addr().As16(), f.Dst.Addr().As16()
		p = append(p, 0x60, 0, 0, 0)
		p = be.AppendUint16(p, uint16(8+len(b)))
		p = append(p, 17, 64)
		p = append(append(p, src[:]...), dst[:]...)
	}
	p = be.AppendUint16(p, f.Src.Port())
	p = be.AppendUint16(p, f.Dst.Port())
	p = be.AppendUint16(p, uint16(8+len(b)))
	p = append(p, 0, 0) // no UDP checksum: the ICRC stands in for it
	p = append(p, b...)
	t.buf = p
	_, t.err = t.w.Write(p)
}

// Err is the first error of writing.
func (t *Tap) Err() error { return t.err }

// fold is the ones' complement sum of 16-bit words.
func fold(b []byte) uint16 {
	var sum uint32
	for i := 0; i < len(b); i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return uint16(sum)
}
