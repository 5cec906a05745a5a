package config

import (
	"errors"
	"maps"
	"slices"
)

// Layer is who said something. Higher ones win.
type Layer uint8

const (
	Default     Layer = iota
	Program           // what a program takes where nobody says otherwise
	File              // a file of settings
	Environment       // a variable
	Given             // a flag, or a field of braid.Options
)

// String is short and stable: programs read it.
func (l Layer) String() string {
	switch l {
	case Default:
		return "default"
	case Program:
		return "program"
	case File:
		return "file"
	case Environment:
		return "environment"
	case Given:
		return "given"
	}
	return "unknown"
}

// Origin is where a value was said.
type Origin struct {
	Layer Layer
	Where string // "braid.conf:3", "BRAID_WINDOW", "--set", "Options.Lanes"
}

// Set is what was said. The zero value is empty, and ready to use.
type Set struct {
	said     map[string]said // by the key's name
	warnings []string
}

// said is one value. It is hidden behind a function: no print of a Set shows a secret.
type said struct {
	origin Origin
	value  func() value
}

// Value is what holds for a key.
type Value struct {
	Key    *Key
	Text   string // of secrets: set or unset
	Origin Origin
}

// Clone is an independent copy.
func (s *Set) Clone() *Set {
	return &Set{said: maps.Clone(s.said), warnings: slices.Clone(s.warnings)}
}

// Put notes a value, unless a higher layer has said one.
//
// Errors: *UnknownError, *ValueError.
func (s *Set) Put(name, text string, o Origin) error {
	k, ok := Lookup(name)
	if !ok {
		return &UnknownError{Name: name, Where: o.Where, Near: nearest(name)}
	}
	var n Node
	if err := k.Parse(&n, text); err != nil {
		return &ValueError{Key: k, Value: text, Where: o.Where, Err: err}
	}
	s.put(k, &n, o)
	return nil
}

func (s *Set) put(k *Key, n *Node, o Origin) {
	if have, ok := s.said[k.Name]; ok && have.origin.Layer > o.Layer {
		return
	}
	if s.said == nil {
		s.said = map[string]said{}
	}
	v := load(k.field(n))
	s.said[k.Name] = said{o, func() value { return v }}
}

// Options notes the fields of braid.Options that are not zero.
//
// Errors: *ValueError, all there are.
func (s *Set) Options(n Node) error {
	var errs []error
	for i := range Keys {
		k := &Keys[i]
		if !k.Said(&n) {
			continue
		}
		o := Origin{Given, "Options." + k.Option}
		if err := k.check(&n); err != nil {
			errs = append(errs, &ValueError{Key: k, Value: k.Print(&n), Where: o.Where, Err: err})
			continue
		}
		s.put(k, &n, o)
	}
	return errors.Join(errs...)
}

// Node is what was said, and zero where nothing was.
func (s *Set) Node() Node {
	var n Node
	for i := range Keys {
		k := &Keys[i]
		if v, ok := s.said[k.Name]; ok {
			store(k.field(&n), v.value())
		}
	}
	return n
}

// Origin is where a key's value was said.
func (s *Set) Origin(name string) Origin { return s.said[name].origin }

// Values are those of all keys, in the order of the table.
func (s *Set) Values() []Value {
	list := make([]Value, len(Keys))
	for i := range Keys {
		k := &Keys[i]
		v, ok := s.said[k.Name]
		list[i] = Value{Key: k, Text: k.Initial(), Origin: v.origin}
		switch {
		case k.Kind == Secret && ok:
			list[i].Text = "set"
		case ok:
			list[i].Text = k.show(v.value())
		}
	}
	return list
}

// Warnings are what the environment said and nobody understood.
func (s *Set) Warnings() []string { return s.warnings }
