package segment

// Fits is fits.
func Fits(size int, free uint64) error { return fits(size, Most, free) }
