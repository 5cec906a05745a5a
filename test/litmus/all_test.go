package litmus

import (
	"fmt"
	"strings"
)

// letters are the operations of which all programs are made.
var letters = []string{"P", "Q", "S", "M", "L", "G", "A", "F", "|"}

// all are the programs of n operations, fences and flushes among them, that begin with these words. Of those that are the same for
// the engine there is one:
//
//   - a fence or a flush with nothing before it, a fence with nothing behind it, and a second fence or flush after one do nothing;
//   - a place in memory has no name: each operation has its own, and a get reads that of the nearest put before it, or of the nearest
//     one behind it, or of none.
func all(n int, words ...string) (ps []string) {
	if len(words) == n {
		if words[n-1] != "|" {
			ps = named(words)
		}
		return ps
	}
	for _, l := range letters {
		if l == "|" || l == "F" {
			if len(words) == 0 || words[len(words)-1] == l {
				continue
			}
		}
		ps = append(ps, all(n, append(words[:len(words):len(words)], l)...)...)
	}
	return ps
}

// named are the programs with these words in which each get has a put.
func named(words []string) []string {
	var puts []int // by number of the operation
	var gets []int // by word
	number := make([]int, len(words))
	n := 0
	for i, w := range words {
		number[i] = n
		switch w {
		case "|":
			continue
		case "P", "Q", "S":
			puts = append(puts, n)
		case "G":
			gets = append(gets, i)
		}
		n++
	}
	ps := [][]string{words}
	for _, g := range gets {
		before, behind := -1, -1
		for _, p := range puts {
			if p < number[g] {
				before = p
			} else if behind < 0 {
				behind = p
			}
		}
		var next [][]string
		for _, p := range ps {
			for _, to := range []int{before, behind} {
				if to < 0 {
					continue
				}
				q := append([]string(nil), p...)
				q[g] = fmt.Sprint("G", to)
				next = append(next, q)
			}
			if before < 0 && behind < 0 {
				q := append([]string(nil), p...)
				q[g] = fmt.Sprint("G", number[g])
				next = append(next, q)
			}
		}
		ps = next
	}
	var out []string
	for _, p := range ps {
		out = append(out, strings.Join(p, " "))
	}
	return out
}
