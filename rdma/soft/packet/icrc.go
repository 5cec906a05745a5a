package packet

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
)

// Flow is what the ICRC covers of the headers around a packet.
type Flow struct {
	Src, Dst netip.AddrPort // of one family
}

// Reverse is the flow of the answers.
func (f Flow) Reverse() Flow { return Flow{Src: f.Dst, Dst: f.Src} }

// together is how much of a packet is put behind its headers, so that a short one is summed in one piece.
const together = 128

// idBytes is how much of what the ICRC of an IPv4 packet covers stands after the identification, before the BTH.
const idBytes = 14 + 8

// Sum computes ICRCs. It is memory that is used again, so that nothing is allocated; one owner at a time.
type Sum struct {
	head [8 + 40 + 8 + bthLen + together]byte
}

// ICRC computes the invariant CRC of the datagram b, whose last four bytes are its place and don't count. id is the
// identification of its IPv4 header, which is sent with DF set. Fields that routers change, and checksums, count as ones.
//
// Source: rxe_icrc_hdr.
func (s *Sum) ICRC(f Flow, b []byte, id uint16) uint32 {
	m := &s.head
	be := binary.BigEndian
	for i := range 8 {
		m[i] = 0xff
	}
	at := 8
	udpLen := 8 + len(b)
	if f.Dst.Addr().Is4() {
		ip := m[at : at+20]
		ip[0], ip[1] = 0x45, 0xff
		be.PutUint16(ip[2:], uint16(20+udpLen))
		be.PutUint16(ip[4:], id)
		be.PutUint16(ip[6:], 0x4000)
		ip[8], ip[9], ip[10], ip[11] = 0xff, 17, 0xff, 0xff
		src, dst := f.Src.Addr().As4(), f.Dst.Addr().As4()
		copy(ip[12:], src[:])
		copy(ip[16:], dst[:])
		at += 20
	} else {
		ip := m[at : at+40]
		ip[0], ip[1], ip[2], ip[3] = 0x6f, 0xff, 0xff, 0xff
		be.PutUint16(ip[4:], uint16(udpLen))
		ip[6], ip[7] = 17, 0xff
		src, dst := f.Src.Addr().As16(), f.Dst.Addr().As16()
		copy(ip[8:], src[:])
		copy(ip[24:], dst[:])
		at += 40
	}
	be.PutUint16(m[at:], f.Src.Port())
	be.PutUint16(m[at+2:], f.Dst.Port())
	be.PutUint16(m[at+4:], uint16(udpLen))
	m[at+6], m[at+7] = 0xff, 0xff
	at += 8
	copy(m[at:], b[:bthLen])
	m[at+4] = 0xff
	at += bthLen
	rest := b[bthLen : len(b)-icrcLen]
	n := copy(m[at:], rest[:min(len(rest), together)])
	crc := crc32.Update(0, crc32.IEEETable, m[:at+n])
	if n < len(rest) {
		crc = crc32.Update(crc, crc32.IEEETable, rest[n:])
	}
	return crc
}

// Seal writes the ICRC into the datagram b.
func (s *Sum) Seal(f Flow, b []byte, id uint16) {
	binary.LittleEndian.PutUint32(b[len(b)-icrcLen:], s.ICRC(f, b, id))
}

// Check looks at the ICRC of the datagram b, of at least BTH and ICRC. Over IPv6 all 32 bits count. Over IPv4 a socket doesn't learn the identification: it is
// likely's, or it is worked out from the difference. It must not be above maxID, so that 32 bits less those of maxID count.
func (s *Sum) Check(f Flow, b []byte, likely, maxID uint16) bool {
	if len(b) < bthLen+icrcLen {
		return false
	}
	diff := s.ICRC(f, b, likely) ^ binary.LittleEndian.Uint32(b[len(b)-icrcLen:])
	if !f.Dst.Addr().Is4() {
		return diff == 0
	}
	id := likely
	if diff != 0 {
		before := back(diff, uint(2+idBytes+len(b)-icrcLen))
		if before>>16 != 0 {
			return false
		}
		id ^= uint16(before)<<8 | uint16(before)>>8 // the first byte on the wire is the CRC's lowest
	}
	return id <= maxID
}

// back is the CRC register n bytes of zeros ago. CRCs are linear: two messages that differ in a few bits have CRCs that differ
// as the CRC of the difference does, and behind that are only zeros. Going back is multiplying with x^-8n.
func back(crc uint32, n uint) uint32 {
	for k := 0; n != 0; k++ {
		if n&1 != 0 {
			crc = mulmod(crc, inverse[k])
		}
		n >>= 1
	}
	return crc
}

// inverse has x^(-8·2^k) modulo the polynomial, in the CRC's bit order (the highest bit is x^0).
var inverse = func() (t [17]uint32) {
	v := uint32(1 << 31)
	for range 8 { // divide by x: the CRC's step for one bit, backwards
		if v&(1<<31) != 0 {
			v = (v^crc32.IEEE)<<1 | 1
		} else {
			v <<= 1
		}
	}
	for k := range t {
		t[k] = v
		v = mulmod(v, v)
	}
	return
}()

// mulmod multiplies two polynomials modulo the CRC's.
func mulmod(a, b uint32) uint32 {
	var p uint32
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			p ^= b
		}
		if b&1 != 0 {
			b = b>>1 ^ crc32.IEEE
		} else {
			b >>= 1
		}
	}
	return p
}
