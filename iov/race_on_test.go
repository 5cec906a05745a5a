//go:build race

package iov_test

const raceEnabled = true
