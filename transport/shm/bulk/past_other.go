//go:build !amd64

package bulk

// canPast: without instructions for it there is one way only.
const canPast = false

// Past is copy.
func Past(dst, src []byte) { copy(dst, src) }
