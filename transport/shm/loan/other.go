//go:build !linux

package loan

// Desk is nothing here.
type Desk struct{}
