package config

import (
	"fmt"
	"strings"
	"time"
)

// Key is one thing that can be set.
type Key struct {
	Name    string // lower case, words joined by "-"
	Kind    Kind
	Default string   // as it is written; "": see Auto
	Auto    string   // what is done while nothing is set, where that is no fixed value; to write "auto" says the same
	Least   int64    // the smallest value of a number
	Most    int64    // and the largest
	Words   []string // of a Word or a List, the ones there are; a Word's value is its place among them
	Option  string   // the field of braid.Options, if there is one
	Text    string   // what it is, in one line

	field func(*Node) any // points to where the value goes
}

// Prefix is that of each variable.
const Prefix = "BRAID_"

// Variable is its name in the environment.
func (k *Key) Variable() string {
	return Prefix + strings.ToUpper(strings.ReplaceAll(k.Name, "-", "_"))
}

// Lookup finds a key by its name.
func Lookup(name string) (*Key, bool) {
	for i := range Keys {
		if Keys[i].Name == name {
			return &Keys[i], true
		}
	}
	return nil, false
}

// Parse reads a value into n. The error is what is wanted instead.
func (k *Key) Parse(n *Node, text string) error {
	v := value{}
	if k.Auto == "" || text != "auto" {
		var ok bool
		if v, ok = k.Kind.parse(k, text); !ok {
			return fmt.Errorf("want %s", k.Grammar())
		}
	}
	store(k.field(n), v)
	return nil
}

// Print writes n's value as Parse reads it.
func (k *Key) Print(n *Node) string { return k.show(load(k.field(n))) }

func (k *Key) show(v value) string {
	if v.zero() && k.Auto != "" {
		return "auto"
	}
	return k.Kind.print(k, v)
}

// Initial is the value while nobody says one, as it is shown.
func (k *Key) Initial() string {
	switch {
	case k.Kind == Secret:
		return "unset"
	case k.Auto != "":
		return "auto"
	}
	return k.Default
}

// Said says whether n has a value of its own for the key.
func (k *Key) Said(n *Node) bool { return !load(k.field(n)).zero() }

// check says what is wanted instead of n's value, where that can't be.
func (k *Key) check(n *Node) error {
	if v := load(k.field(n)); k.Kind.number() && (v.num < k.Least || v.num > k.Most) {
		return fmt.Errorf("want %s", k.Grammar())
	}
	return nil
}

// value is what a field holds: a number, or texts.
type value struct {
	num   int64
	texts []string
}

func (v value) zero() bool { return v.num == 0 && len(v.texts) == 0 }

func load(field any) value {
	switch f := field.(type) {
	case *string:
		if *f != "" {
			return value{texts: []string{*f}}
		}
		return value{}
	case *[]string:
		return value{texts: *f}
	case *time.Duration:
		return value{num: int64(*f)}
	case *int:
		return value{num: int64(*f)}
	case *uint64:
		return value{num: int64(*f)}
	}
	panic(fmt.Sprintf("config: a field of type %T", field))
}

func store(field any, v value) {
	switch f := field.(type) {
	case *string:
		*f = strings.Join(v.texts, "")
	case *[]string:
		*f = v.texts
	case *time.Duration:
		*f = time.Duration(v.num)
	case *int:
		*f = int(v.num)
	case *uint64:
		*f = uint64(v.num)
	default:
		panic(fmt.Sprintf("config: a field of type %T", field))
	}
}
