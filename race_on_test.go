//go:build race

package braid_test

const underRace = true
