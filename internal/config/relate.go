package config

import (
	"errors"
	"fmt"
)

// relations: the first must not be above the second.
var relations = [][2]string{{"probe-after", "lost-after"}, {"redial-min", "redial-max"}}

// Relate says which values don't go together. It is for a Set that is complete: a higher layer may put right what a lower one said.
func (s *Set) Relate() error {
	n := s.Node()
	n.Defaults()
	var errs []error
	for _, r := range relations {
		low, _ := Lookup(r[0])
		high, _ := Lookup(r[1])
		if load(low.field(&n)).num > load(high.field(&n)).num {
			errs = append(errs, fmt.Errorf("%s must not be above %s: change one of them", s.told(low, &n), s.told(high, &n)))
		}
	}
	return errors.Join(errs...)
}

// told is a key with its value, and who said so.
func (s *Set) told(k *Key, n *Node) string {
	where := s.Origin(k.Name).Where
	if where == "" {
		where = Default.String()
	}
	return fmt.Sprintf("%s (%s, %s)", k.Name, k.Print(n), where)
}
