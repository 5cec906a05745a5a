package rdma

import "time"

// MaxNum is the largest queue pair number and packet number: they have 24 bits.
const MaxNum = 1<<24 - 1

// PSNAdd is the packet number n after psn; n may be negative.
func PSNAdd(psn uint32, n int) uint32 { return (psn + uint32(n)) & MaxNum }

// PSNDiff is how far a is after b: negative if it is before, and of at most 2^23 either way.
//
// Source: psn_compare of rxe.
func PSNDiff(a, b uint32) int { return int(int32((a-b)<<8) >> 8) }

// Packets is how many packet numbers a message of so many bytes takes: one for an empty one.
func Packets(length uint32, mtu MTU) uint32 {
	if length == 0 {
		return 1
	}
	return uint32((uint64(length) + uint64(mtu.Bytes()) - 1) >> mtu.Shift())
}

// AckTimeout is the time that a Timeout code means: 4.096 µs times 2 to its power; 0 for 0, which waits for ever.
func AckTimeout(code uint8) time.Duration {
	if code == 0 {
		return 0
	}
	return time.Duration(4096) << min(code, 31)
}

// rnrDelay is in units of 10 µs, by code.
var rnrDelay = [32]uint32{65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152}

// RNRDelay is the time that a MinRNRTimer code means: 10 µs for 1 to 491 ms for 31; 0 is the longest, 655 ms.
func RNRDelay(code uint8) time.Duration {
	return time.Duration(rnrDelay[code&31]) * 10 * time.Microsecond
}
