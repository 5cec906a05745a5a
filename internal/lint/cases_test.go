package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	caseLine  = regexp.MustCompile(`(?m)^(\d+)\. .*$`)
	caseRef   = regexp.MustCompile("`([a-z/]+): ([^`]+)`")
	caseFile  = regexp.MustCompile(`^\d\d_\w+$`)
	caseTest  = regexp.MustCompile(`^(Test\w+)(?:/(.+))?$`)
	caseWords = regexp.MustCompile(`^(.+) over (\d) lanes, (\d)(, silent|, one way)? cut$`) // what test/litmus calls a program
)

// TestCasesAreShown: docs/testing.md says of each of the 28 cases of the hand-over by which tests it is shown, and each that it names is there.
func TestCasesAreShown(t *testing.T) {
	page, err := os.ReadFile("../../docs/testing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(page), "\n## The 28 cases of the hand-over\n")
	if !ok {
		t.Fatal("docs/testing.md has no such chapter")
	}
	list, _, _ = strings.Cut(list, "\n## ")
	lines := caseLine.FindAllStringSubmatch(list, -1)
	if len(lines) != 28 {
		t.Errorf("docs/testing.md has %d cases", len(lines))
	}
	for i, line := range lines {
		if n, _ := strconv.Atoi(line[1]); n != i+1 {
			t.Errorf("case %s stands where %d should", line[1], i+1)
		}
		refs := caseRef.FindAllStringSubmatch(line[0], -1)
		if len(refs) < 2 {
			t.Errorf("case %s has a transcript at most: %s", line[1], line[0])
		}
		for _, r := range refs {
			if err := shown(r[1], r[2]); err != nil {
				t.Errorf("case %s: %s: %v", line[1], r[0], err)
			}
		}
	}
}

// shown says what is not there of a transcript, a test, or a part of one in dir.
func shown(dir, name string) error {
	text, err := goFiles("../../" + dir)
	if err != nil {
		return err
	}
	if caseFile.MatchString(name) {
		if found, err := filepath.Glob("../../" + dir + "/testdata/*/" + name + ".txt"); err != nil || len(found) != 1 {
			return fmt.Errorf("no such transcript, %v", err)
		}
		return nil
	}
	part := name
	if m := caseTest.FindStringSubmatch(name); m != nil {
		if !strings.Contains(text, "\nfunc "+m[1]+"(t *testing.T)") {
			return fmt.Errorf("no test %s", m[1])
		}
		if part = m[2]; part == "" {
			return nil
		}
	}
	want := strconv.Quote(part)
	if m := caseWords.FindStringSubmatch(part); m != nil {
		kind := map[string]string{"": "sim.Reset", ", silent": "sim.Silence", ", one way": "oneWay"}[m[4]]
		want = fmt.Sprintf("{%q, %s, %s, %s}", m[1], m[2], m[3], kind)
	}
	if !strings.Contains(text, want) {
		return fmt.Errorf("no %s in its files", want)
	}
	return nil
}

// goFiles is what a folder's Go files hold.
func goFiles(dir string) (string, error) {
	names, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(names) == 0 {
		return "", fmt.Errorf("no Go files, %v", err)
	}
	var b strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	return b.String(), nil
}

// TestShown: what is not there is found.
func TestShown(t *testing.T) {
	for _, c := range []struct {
		dir, name string
		is        bool
	}{
		{"internal/failover", "TestSearch", true}, {"internal/failover", "TestSearches", false}, {"internal/failover", "TestSearch/2 lanes, cut", true},
		{"internal/failover", "TestSearch/2 lanes, no cut", false}, {"internal/failover", "04_gone_lost", true}, {"internal/failover", "04_gone", false},
		{"internal/nowhere", "TestSearch", false}, {"test/litmus", "TestPrograms/A | A over 1 lanes, 1 cut", true}, {"test/litmus", "TestPrograms/A | A over 3 lanes, 1 cut", false},
		{"test/litmus", "TestPrograms/P | P over 1 lanes, 1, silent cut", true},
	} {
		if err := shown(c.dir, c.name); (err == nil) != c.is {
			t.Errorf("%s: %s: %v", c.dir, c.name, err)
		}
	}
}
