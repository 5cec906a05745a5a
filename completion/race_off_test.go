//go:build !race

package completion_test

const raceEnabled = false
