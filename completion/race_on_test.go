//go:build race

package completion_test

const raceEnabled = true
