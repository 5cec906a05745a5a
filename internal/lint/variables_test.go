package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/config"
)

// misspell are files whose tests name variables that there aren't.
var misspell = []string{"internal/config/", "internal/lint/variables_test.go", "settings_test.go", "cmd/braid/info_test.go"}

// TestVariables: each BRAID_ variable that the project's code, scripts or pages name is a setting, or reserved.
func TestVariables(t *testing.T) {
	out, err := exec.Command("git", "-c", "safe.directory=*", "-C", "../..", "ls-files").Output()
	if err != nil {
		t.Skipf("needs git, to know which files there are: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range strings.Fields(string(out)) {
		if slices.ContainsFunc(misspell, func(m string) bool { return strings.HasPrefix(file, m) }) {
			continue
		}
		b, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			continue // deleted, and not committed yet
		}
		for _, v := range strangers(string(b), seen) {
			t.Errorf("%s names %s, which is no setting: if tests read it, add it to Reserved in internal/config/keys.go", file, v)
		}
	}
	for _, v := range append([]string{"BRAID_KEEPALIVE"}, config.Reserved...) { // who looks at nothing is always content
		if !seen[v] {
			t.Errorf("nothing names %s: if no test reads it, it need not be reserved", v)
		}
	}
}

var variable = regexp.MustCompile(`\bBRAID_[A-Z_]+\b`)

// strangers are the variables in a text that are neither a setting nor reserved; seen gets all of them.
func strangers(text string, seen map[string]bool) (bad []string) {
	for _, v := range variable.FindAllString(text, -1) {
		k, ok := config.Lookup(strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(v, config.Prefix)), "_", "-"))
		if (!ok || k.Variable() != v) && !slices.Contains(config.Reserved, v) {
			bad = append(bad, v)
		}
		seen[v] = true
	}
	return bad
}

func TestStrangers(t *testing.T) {
	seen := map[string]bool{}
	got := strangers("BRAID_KEEPALIVE=2s, BRAID_KEEPALIV, BRAID_SEED, $BRAID_STRIPES; ABRAID_X", seen)
	if want := []string{"BRAID_KEEPALIV", "BRAID_STRIPES"}; !slices.Equal(got, want) || !seen["BRAID_SEED"] {
		t.Errorf("%q, want %q; seen %v", got, want, seen)
	}
}
