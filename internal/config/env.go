package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Environ notes the variables that are settings, of a list of NAME=VALUE; an empty one says nothing, unless it is to be a secret. One with the prefix that is no
// setting is a warning: it may be another program's.
//
// Errors: *ValueError, all there are.
func (s *Set) Environ(env []string) error {
	var errs []error
	env = slices.Sorted(slices.Values(env)) // the same warnings each time
	for _, e := range env {
		variable, text, _ := strings.Cut(e, "=")
		name, ok := strings.CutPrefix(variable, Prefix)
		if !ok || slices.Contains(Reserved, variable) {
			continue
		}
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
		k, ok := Lookup(name)
		if !ok || k.Variable() != variable {
			s.warnings = append(s.warnings, unknownVariable(variable, name))
			continue
		}
		if text == "" && k.Kind != Secret { // a script whose secret got lost must not run without one
			continue
		}
		if err := s.Put(name, text, Origin{Environment, variable}); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func unknownVariable(variable, name string) string {
	s := fmt.Sprintf("the environment has %s, which is no setting", quote(variable))
	if near := nearest(name); near != "" {
		k, _ := Lookup(near)
		return s + "; did you mean " + k.Variable() + "?"
	}
	return s + "; `braid info config` lists all"
}
