//go:build !unix

package transporttest

const canPoll = false

func readable(int, int) bool { return false }
