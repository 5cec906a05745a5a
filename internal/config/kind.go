package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Kind is how a value is written.
type Kind uint8

const (
	Duration Kind = iota // 15ms, 1.5s, 2m
	Size                 // bytes: 65536, 64k, 4MiB
	Count                // 64
	Text                 // printable text
	List                 // texts, with commas between them
	Word                 // one of some words
	Bool                 // yes or no
	Secret               // text that is never shown
)

// mostText is how long a text, or one of a list, may be.
const mostText = 4096

// number says whether the kind has a smallest and a largest value.
func (k Kind) number() bool { return k == Duration || k == Size || k == Count }

// Unit is what a number of this kind counts.
func (k Kind) Unit() string {
	switch k {
	case Duration:
		return "time"
	case Size:
		return "bytes"
	case Count, Text, List, Word, Bool, Secret:
		return ""
	}
	return ""
}

// Grammar is how a value is written, for people.
func (k *Key) Grammar() string {
	g := ""
	switch k.Kind {
	case Duration:
		g = fmt.Sprintf("a time from %s to %s, as 250ms, 5s or 2m", k.Kind.print(k, value{num: k.Least}), k.Kind.print(k, value{num: k.Most}))
	case Size:
		g = fmt.Sprintf("a number of bytes from %s to %s, as 65536, 64k or 4MiB (units of 1024)", k.Kind.print(k, value{num: k.Least}), k.Kind.print(k, value{num: k.Most}))
	case Count:
		g = fmt.Sprintf("a number from %d to %d", k.Least, k.Most)
	case Text:
		g = fmt.Sprintf("at most %d bytes of printable text", k.Most)
	case List:
		g = "names with commas between them"
		if len(k.Words) > 0 {
			g += ", of " + strings.Join(k.Words, ", ")
		}
	case Word:
		g = "one of " + strings.Join(k.Words, ", ")
	case Bool:
		g = "yes or no"
	case Secret:
		g = "the one line that `braid secret` prints"
	}
	if k.Auto != "" {
		g += "; or auto"
	}
	return g
}

func (k Kind) parse(key *Key, text string) (v value, ok bool) {
	switch k {
	case Duration:
		var d time.Duration
		d, ok = parseDuration(text)
		v.num = int64(d)
	case Size:
		v.num, ok = parseSize(text)
	case Count:
		v.num, ok = parseCount(text)
	case Text:
		return value{texts: []string{text}}, printable(text) && int64(len(text)) <= key.Most
	case Secret:
		return value{texts: []string{text}}, text != "" && utf8.ValidString(text) && len(text) <= mostText
	case List:
		v.texts, ok = parseList(text, key.Words)
		return v, ok
	case Word:
		v.num = int64(slices.Index(key.Words, text))
		return v, v.num >= 0
	case Bool:
		v.num, ok = parseBool(text)
		return v, ok
	}
	return v, ok && v.num >= key.Least && v.num <= key.Most
}

func (k Kind) print(key *Key, v value) string {
	switch k {
	case Duration:
		return printDuration(time.Duration(v.num))
	case Size:
		return printSize(v.num)
	case Count:
		return strconv.FormatInt(v.num, 10)
	case Text, Secret:
		return strings.Join(v.texts, "")
	case List:
		return strings.Join(v.texts, ",")
	case Word:
		if v.num < 0 || v.num >= int64(len(key.Words)) {
			return strconv.FormatInt(v.num, 10)
		}
		return key.Words[v.num]
	case Bool:
		if v.num == 0 {
			return "no"
		}
		return "yes"
	}
	return ""
}

// parseDuration wants a unit: a bare number would be somebody's guess, also that of 0.
func parseDuration(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	return d, err == nil && text[len(text)-1] > '9'
}

// printDuration leaves out the zeros that time.Duration writes behind minutes and hours.
func printDuration(d time.Duration) string {
	s := d.String()
	if cut, ok := strings.CutSuffix(s, "m0s"); ok {
		s = cut + "m"
	}
	if cut, ok := strings.CutSuffix(s, "h0m"); ok {
		s = cut + "h"
	}
	return s
}

// units of sizes, largest first. A bare letter is one of 1024, as with UCX.
var units = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

func parseSize(text string) (int64, bool) {
	digits := strings.TrimRight(text, "kKmMgGtTiIbB")
	unit := int64(1)
	if suffix := strings.ToUpper(text[len(digits):]); suffix != "" && suffix != "B" {
		at := slices.IndexFunc(units, func(u struct {
			name  string
			bytes int64
		}) bool {
			name := strings.ToUpper(u.name)
			return suffix == name || suffix == name[:1]
		})
		if at < 0 {
			return 0, false // also MB: some take it for 10^6, some for 2^20
		}
		unit = units[at].bytes
	}
	n, ok := parseCount(digits)
	return n * unit, ok && n <= (1<<62)/unit
}

func printSize(n int64) string {
	for _, u := range units {
		if n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// parseCount reads digits, and nothing that strconv allows besides them.
func parseCount(text string) (int64, bool) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func parseBool(text string) (int64, bool) {
	switch text {
	case "yes", "true", "on", "1":
		return 1, true
	case "no", "false", "off", "0":
		return 0, true
	}
	return 0, false
}

// parseList takes blanks around the commas away. A list that names nothing is no list.
func parseList(text string, words []string) (list []string, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" || len(part) > mostText || !printable(part) || len(words) > 0 && !slices.Contains(words, part) {
			return nil, false
		}
		list = append(list, part)
	}
	return list, true
}

func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) })
}
