package config

import (
	"fmt"
	"strconv"
)

// UnknownError: there is no such key.
type UnknownError struct {
	Name  string
	Where string
	Near  string // the key that may have been meant; "": none comes near
}

func (e *UnknownError) Error() string {
	name := quote(e.Name)
	if secretLike(e.Name) {
		name = "that" // somebody has put a secret where a name belongs
	}
	s := "no setting is named " + name
	if e.Where != "" {
		s = e.Where + ": " + s
	}
	if e.Near != "" {
		return s + "; did you mean " + e.Near + "?"
	}
	return s + "; `braid info config` and docs/settings.md list all"
}

// ValueError: a key can't have such a value.
type ValueError struct {
	Key   *Key
	Value string
	Where string
	Err   error // what is wanted
}

func (e *ValueError) Error() string {
	value := quote(e.Value)
	if e.Key.Kind == Secret || secretLike(e.Value) {
		value = "that"
	}
	s := fmt.Sprintf("%s can't be %s: %v", e.Key.Name, value, e.Err)
	if e.Where != "" {
		s = e.Where + ": " + s
	}
	return s
}

func (e *ValueError) Unwrap() error { return e.Err }

// quote keeps what somebody wrote on one line, and short.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.QuoteToGraphic(s[:most]) + "…"
	}
	return strconv.QuoteToGraphic(s)
}
