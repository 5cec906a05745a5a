//go:build !linux

package cpu

import "errors"

const canPin = false

func pin(int) error { return errors.ErrUnsupported }

func allowed() []int { return nil }

func core(int) string { return "" }
