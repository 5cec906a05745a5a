package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// ReadFile notes what a file says. mayHold is asked whether a file of this mode may have a secret in it.
//
// Errors: the file's, mayHold's, those of File.
func (s *Set) ReadFile(name string, mayHold func(fs.FileMode) error) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MostFile+1))
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	var said Set
	if said.File("", text); said.Node().Secret != "" {
		st, err := f.Stat()
		if err == nil {
			err = mayHold(st.Mode())
		}
		if err != nil {
			return fmt.Errorf("settings: %s: %w", name, err)
		}
	}
	return s.File(name, text)
}

// ReadEnviron notes what the file says that a variable names, if it names one, and what the others say.
//
// Errors: those of ReadFile and Environ, all there are.
func (s *Set) ReadEnviron(env []string, variable string, mayHold func(fs.FileMode) error) error {
	var errs []error
	for _, e := range env {
		if name, ok := strings.CutPrefix(e, variable+"="); ok && name != "" {
			if err := s.ReadFile(name, mayHold); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", variable, err))
			}
		}
	}
	return errors.Join(append(errs, s.Environ(env))...)
}
