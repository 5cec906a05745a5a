package config

import "strings"

// nearest is the key that was probably meant by name, or "".
func nearest(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	if len(name) > 64 {
		return ""
	}
	best, least := "", 1+max(1, len(name)/4) // more slips than that are another word
	for i := range Keys {
		k := Keys[i].Name
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		best = holding(name)
	}
	return best
}

// holding is the one key of which name is some of its words: "send-buffer", "per-address".
func holding(name string) string {
	found := ""
	for i := range Keys {
		if name != "" && strings.Contains("-"+Keys[i].Name+"-", "-"+name+"-") {
			if found != "" {
				return ""
			}
			found = Keys[i].Name
		}
	}
	return found
}

// distance counts how many letters must be added, taken away, changed or swapped with their neighbour.
func distance(a, b string) int {
	var before, last, now []int // rows of the table for one letter of a
	for j := range len(b) + 1 {
		last = append(last, j)
	}
	before, now = make([]int, len(b)+1), make([]int, len(b)+1)
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
