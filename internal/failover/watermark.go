package failover

// watermark remembers which numbers of the peer's counter were seen: all below high-63 count as seen,
// those in the window each by its bit. R8.
type watermark struct {
	high   uint64
	window uint64 // bit i: high-i was seen
}

// take notes n and says whether this was the first time. Numbers start at 1.
func (w *watermark) take(n uint64) bool {
	if n > w.high {
		w.window = w.window<<min(n-w.high, 64) | 1 // a shift by 64 gives 0
		w.high = n
		return true
	}
	age := w.high - n
	if n == 0 || age >= 64 || w.window>>age&1 == 1 {
		return false
	}
	w.window |= 1 << age
	return true
}
