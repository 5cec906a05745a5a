//go:build !linux

package cpu

import "errors"

// CanPin says whether this system can bind to processors.
const CanPin = false

func pin(int) error { return errors.ErrUnsupported }

func pinAll(int) error { return errors.ErrUnsupported }

func allowed() []int { return nil }

func core(int) string { return "" }
