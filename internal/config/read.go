package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openbraid/braid/internal/textfile"
)

// ReadFile notes what a file says.
//
// Errors: the file's, those of File. A file with a secret in it must be private.
func (s *Set) ReadFile(name string) error {
	f, err := textfile.Read(name, MostFile)
	if err != nil {
		return fmt.Errorf("settings: open %s: %w", name, err)
	}
	var said Set
	if said.File("", f.Text); said.Node().Secret != "" {
		if err := f.Private(); err != nil {
			return fmt.Errorf("settings: %s: %w", name, err)
		}
	}
	return s.File(name, f.Text)
}

// ReadEnviron notes what the file says that a variable names, if it names one, and what the others say.
//
// Errors: those of ReadFile and Environ, all there are.
func (s *Set) ReadEnviron(env []string, variable string) error {
	var errs []error
	for _, e := range env {
		if name, ok := strings.CutPrefix(e, variable+"="); ok && name != "" {
			if err := s.ReadFile(name); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", variable, err))
			}
		}
	}
	return errors.Join(append(errs, s.Environ(env))...)
}
