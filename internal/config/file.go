package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MostFile is how many bytes a file of settings may have.
	MostFile = 1 << 20
	// mostErrors are reported of one file: what has more is no file of settings.
	mostErrors = 10
)

// File notes what a file of settings says. Each line of it is one of
//
//	# a comment
//	KEY = VALUE          # a comment
//	KEY = "VALUE"        # a comment
//
// In quotes \" and \\ stand for " and \; without them a value ends before a # that follows a blank.
//
// Errors: *UnknownError, *ValueError, and lines that are none of these; all there are, with file and line.
func (s *Set) File(name string, text []byte) error {
	if len(text) > MostFile {
		return fmt.Errorf("%s has %d bytes: at most %d are settings", name, len(text), MostFile)
	}
	if !utf8.Valid(text) {
		return fmt.Errorf("%s is no text in UTF-8: it is no file of settings", name)
	}
	var errs []error
	at := map[string]int{} // line by key
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		number++
		where := name + ":" + strconv.Itoa(number)
		key, value, ok, err := parseLine(line)
		switch {
		case err != nil:
			err = fmt.Errorf("%s: %w", where, err)
		case !ok:
			continue
		case at[key] > 0:
			err = fmt.Errorf("%s: %s is set in line %d already: keep one of the two", where, key, at[key])
		default:
			if err = s.Put(key, value, Origin{File, where}); err == nil {
				at[key] = number
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
		if len(errs) == mostErrors {
			errs = append(errs, fmt.Errorf("%s: too many errors, the rest is not read", name))
			break
		}
	}
	return errors.Join(errs...)
}

// parseLine takes a line apart; ok is false if it says nothing.
func parseLine(line string) (key, value string, ok bool, err error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", false, nil
	}
	if line[0] == '[' {
		return "", "", false, errors.New("there are no sections here, only lines KEY = VALUE")
	}
	key, value, found := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch _, known := Lookup(key); {
	case !known && secretLike(line):
		return "", "", false, errors.New("this is a secret, not settings: its file is for --secret-file; here it would be the line secret = SECRET")
	case !found || key == "" || !known && (value == "" || value == "=" || len(key) > mostName): // base64 ends so
		return "", "", false, errors.New("this is no line KEY = VALUE, as keepalive = 2s (it is not shown: it may be a secret)")
	}
	if strings.HasPrefix(value, `"`) {
		value, err = unquote(value)
		return key, value, err == nil, err
	}
	if at := comment(value); at >= 0 {
		value = strings.TrimSpace(value[:at])
	}
	return key, value, true, nil
}

// mostName is longer than any key.
const mostName = 32

// secretLike says whether a text looks like a secret, also in part: as `braid secret` prints one, or as hexadecimal digits. Such a text is never shown.
func secretLike(text string) bool {
	return strings.Contains(text, "braid-secret-") || len(text) >= mostName && strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// comment is where one begins in a value without quotes, or -1.
func comment(value string) int {
	for i := range len(value) {
		if value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
			return i
		}
	}
	return -1
}

// unquote reads "..." and nothing behind it but a comment.
func unquote(text string) (string, error) {
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			if rest := strings.TrimSpace(text[i+1:]); rest != "" && rest[0] != '#' {
				return "", errors.New("something stands behind the closing quote; inside of quotes write \\\" for one")
			}
			return b.String(), nil
		case '\\':
			i++
			if i == len(text) || text[i] != '"' && text[i] != '\\' {
				return "", errors.New(`in quotes a \ stands before " or \ only`)
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New(`a closing " is missing`)
}
