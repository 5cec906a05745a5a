package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// mutant is one mistake.
type mutant struct {
	name string // the rule that is broken
	file string // from the module's root
	old  string // stands in the file exactly once
	new  string
	test string // packages and tests that must notice, as arguments of go test
}

const (
	seeds    = "./test/sim -run TestSeeds"
	atomics  = "./test/sim -run TestAtomics"
	tagged   = "./test/sim -run TestTags"
	restarts = "./test/sim -run TestRestartSeeds"
	litmus   = "./internal/worker -run TestLitmus"
	book     = "./internal/order"
	explored = "./test/litmus"
	hand     = "./internal/failover"
	verdicts = "./internal/perf -run TestTrial$"
	carrier  = "./transport/tcp -run Conformance"
	talk     = "./internal/files/dialogue"
	disk     = "./internal/files/tree"
	hostile  = "./internal/files -run TestHostile"
	proofs   = "./internal/wireup"
	places   = "./internal/arrivals"
	answers  = ". -run TestStrangerAnswers"
	rc       = "./transport/rc/..."
	reading  = "./transport/rc -run TestRead|TestOffers|TestPurgeOf|TestKeys|TestBinds"
	overRC   = "./test/sim -run TestRC" // lanes of devices, alone and beside others
	device   = "./rdma/soft -run TestFabric|TestSeeds|TestStrangers|TestMove|TestDialogues"
)

func root(t *testing.T) string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestMutantsApply holds without running any: a mutant whose text is gone tests nothing.
func TestMutantsApply(t *testing.T) {
	for _, m := range mutants {
		b, err := os.ReadFile(filepath.Join(root(t), m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(b), m.old); n != 1 {
			t.Errorf("%s: its text stands %d times in %s", m.name, n, m.file)
		}
	}
}

func TestMutants(t *testing.T) {
	which := os.Getenv("BRAID_MUTANTS")
	if which == "" {
		t.Skip("each mutant is a build: set BRAID_MUTANTS=1, or to a regular expression of names, or run make mutants")
	}
	if which == "1" {
		which = "."
	}
	only, err := regexp.Compile(which)
	if err != nil {
		t.Fatal("BRAID_MUTANTS: ", err)
	}
	out := table.NewWriter()
	out.SetStyle(table.StyleLight)
	out.AppendHeader(table.Row{"mutant", "file", "end", "seconds", "noticed by"})
	for _, m := range mutants {
		if !only.MatchString(m.name) {
			continue
		}
		begin := time.Now()
		end, by := m.run(t)
		if end != "killed" {
			t.Errorf("%s: %s\n%s", m.name, end, by)
		}
		out.AppendRow(table.Row{m.name, m.file, end, fmt.Sprintf("%.1f", time.Since(begin).Seconds()), by})
	}
	fmt.Println(out.Render())
}

// run builds the mutant and runs its tests: "killed" and the test that noticed, or what else happened. A test that ran out of time noticed nothing, as
// the machine may only be busy; a mutant that hangs is killed by that, and has a time of its own in its arguments.
func (m mutant) run(t *testing.T) (end, by string) {
	dir := root(t)
	file := filepath.Join(dir, m.file)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), filepath.Base(m.file))
	if err := os.WriteFile(broken, []byte(strings.Replace(string(b), m.old, m.new, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	j, err := json.Marshal(map[string]any{"Replace": map[string]string{file: broken}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, j, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := append([]string{"test", "-overlay", overlay, "-count=1", "-failfast", "-timeout", "2m"}, strings.Fields(m.test)...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BRAID_SEEDS=1500", "BRAID_MUTANTS=", "BRAID_SEED=")
	text, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return "survived", ""
	case strings.Contains(string(text), "[build failed]") || strings.Contains(string(text), "[setup failed]"):
		return "does not build", string(text)
	case (ctx.Err() != nil || strings.Contains(string(text), "panic: test timed out")) && !strings.Contains(m.test, "-timeout"):
		return "not decided in time", string(text)
	}
	return "killed", firstLine(string(text))
}

func firstLine(text string) string {
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "--- FAIL") || strings.HasPrefix(l, "panic:") {
			return strings.TrimPrefix(strings.TrimSpace(l), "--- ")
		}
	}
	return "?"
}
