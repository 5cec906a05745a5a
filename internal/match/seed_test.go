package match

import "testing"

// longest is how many stand in one bucket.
func longest[V any](b *buckets[V]) (most int) {
	for i := range b.lists {
		n := 0
		for x := b.lists[i].head; x != nil; x = x.links[byTag].next {
			n++
		}
		most = max(most, n)
	}
	return most
}

// TestChosenTags: tags that are all in one bucket by one seed are spread by another one, whoever chose them: so who doesn't know the seed can't make a message cost what all that wait
// do. Tags that are near each other are spread by any.
func TestChosenTags(t *testing.T) {
	const many = 1000
	seeds := []Seed{{}, {1, 2}, {0x123456789abcdef, 0xfedcba987654321}, {1 << 63, 1}, {1<<64 - 1, 1<<64 - 1}}
	for i, known := range seeds {
		var chosen []uint64
		for tag := uint64(0); len(chosen) < many; tag++ { // for any number of buckets that so many come to
			if known.spread(tag)&(1<<12-1) == 7 {
				chosen = append(chosen, tag)
			}
		}
		for j, s := range seeds {
			var posted, waiting Table[int, int]
			posted.Sow(s)
			waiting.Sow(s)
			from := any(t)
			for _, tag := range chosen {
				waiting.Wait(tag, from, 0)
				posted.Post(Want{Tag: tag, Mask: All}, 0)
				posted.Post(Want{Tag: tag, Mask: All, From: from}, 0)
			}
			for what, n := range map[string]int{"waiting": longest(&waiting.tags), "posted": longest(&posted.exact), "posted for one": longest(&posted.alone)} {
				if own := i == j; own && what != "posted for one" && n < many || !own && n > many/20 {
					t.Errorf("tags chosen for seed %d, seed %d: %d of %d %s in one bucket", i, j, n, many, what)
				}
			}
		}
	}
	for i, s := range seeds {
		for shift := range 54 {
			var table Table[int, int]
			table.Sow(s)
			for tag := range uint64(many) {
				table.Wait(tag<<shift, nil, 0)
			}
			if n := longest(&table.tags); n > many/20 {
				t.Errorf("seed %d: of tags %d bits apart %d are in one bucket", i, shift, n)
			}
		}
	}
}
