package perftest

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openbraid/braid/internal/perf"
)

// measurement is one test with the name that a batch file gives it.
type measurement struct {
	name string
	perf.Params
}

// mostTests is how many tests batch files may come to.
const mostTests = 100_000

// line is one test of a batch file: a name, and options.
type line struct {
	where string // file:line
	name  string
	words []string
}

// tests are what is to be run: one, or a line of the batch file each. Of several files each line of the first is run with each line of the next,
// as ucx_perftest does.
func (c *Command) tests(setup perf.Setup) ([]measurement, error) {
	if len(c.Batch) == 0 {
		p, err := c.testFlags.params(setup)
		return []measurement{{Params: p}}, err
	}
	files := make([][]line, len(c.Batch))
	n := 1
	for i, file := range c.Batch {
		var err error
		if files[i], err = lines(file); err != nil {
			return nil, err
		}
		if n *= len(files[i]); n > mostTests {
			return nil, fmt.Errorf("-b: the files come to more than %d tests", mostTests)
		}
	}
	var list []measurement
	err := c.combine(files, nil, c.testFlags, func(names []string, t testFlags, where string) error {
		p, err := t.params(setup)
		if err = cmp.Or(c.threadless(t.Test), err); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		list = append(list, measurement{name: strings.Join(names, "/"), Params: p})
		return nil
	})
	return list, err
}

// combine goes through all tests: those of a file, each in those of the files after it.
func (c *Command) combine(files [][]line, names []string, t testFlags, each func([]string, testFlags, string) error) error {
	for _, l := range files[0] {
		next := t
		if _, err := parseLine(&next, l.words, c.idle()); err != nil {
			return fmt.Errorf("%s: %w", l.where, err)
		}
		all := append(slices.Clone(names), l.name)
		var err error
		if len(files) == 1 {
			err = each(all, next, l.where)
		} else {
			err = c.combine(files[1:], all, next, each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lines reads a batch file.
func lines(file string) (list []line, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i, l := range strings.Split(string(text), "\n") {
		if strings.ContainsFunc(l, func(r rune) bool { return r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) }) {
			return nil, fmt.Errorf("%s:%d: %.60q is no line of text", file, i+1, l)
		}
		if words := strings.Fields(l); len(words) > 0 && !strings.HasPrefix(words[0], "#") {
			list = append(list, line{fmt.Sprintf("%s:%d", file, i+1), words[0], words[1:]})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no tests", file)
	}
	return list, nil
}
