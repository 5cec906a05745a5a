package sim

import "time"

// luck is a seeded generator (splitmix64): small, fast, and the same everywhere.
type luck struct{ state uint64 }

func (l *luck) next() uint64 {
	l.state += 0x9e3779b97f4a7c15
	return mix(l.state)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number in [0, n), n >= 1.
func (l *luck) below(n int) int { return int(l.next() % uint64(n)) }

// oneIn is true once in n times.
func (l *luck) oneIn(n int) bool { return l.next()%uint64(n) == 0 }

// upTo is a duration in [0, d].
func (l *luck) upTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(l.next() % uint64(d+1))
}

// checksum is a hash of bytes, eight at a time: it finds changes, it is no protection.
func checksum(h uint64, p []byte) uint64 {
	for len(p) >= 8 {
		w := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
			uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		h = (h ^ w) * 0x9fb21c651e98df25
		h ^= h >> 32
		p = p[8:]
	}
	for _, b := range p {
		h = (h ^ uint64(b)) * 0x100000001b3
	}
	return h ^ h>>29
}
