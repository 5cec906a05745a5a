package mutants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/test/share"
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
	offers   = "./test/sim -run TestOffers"
	twoLanes = ". -run TestCompleteWhile"
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

// atOnce are so many mutants. More than there are processors, since now and then one waits.
var atOnce = runtime.GOMAXPROCS(0) + 1

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
	var some []mutant
	for i, mine := 0, share.Of(t); i < len(mutants); i++ {
		if mine.Has(i) && only.MatchString(mutants[i].name) {
			some = append(some, mutants[i])
		}
	}
	if len(some) == 0 {
		t.Fatal("no mutant has such a name in this part: nothing is tested")
	}
	dir, temp, ends := root(t), t.TempDir(), make([]result, len(some))
	var next atomic.Int64
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(some); i = int(next.Add(1)) - 1 {
				ends[i] = some[i].run(t.Context(), dir, filepath.Join(temp, strconv.Itoa(i)))
			}
		})
	}
	all.Wait()
	for i, m := range some {
		if ends[i].end != killed { // some are noticed by a race that others on the machine may have decided: once more, alone
			ends[i] = m.run(t.Context(), dir, filepath.Join(temp, strconv.Itoa(i)+".again"))
		}
		if r := ends[i]; r.end != killed {
			t.Errorf("%s: %s, twice\n%s", m.name, r.end, r.by)
		}
	}
	report(some, ends)
}

func report(some []mutant, ends []result) {
	out := table.NewWriter()
	out.SetStyle(table.StyleLight)
	out.AppendHeader(table.Row{"mutant", "file", "end", "seconds", "noticed by"})
	for i, r := range ends {
		out.AppendRow(table.Row{some[i].name, some[i].file, r.end, fmt.Sprintf("%.1f", r.took.Seconds()), r.by})
	}
	fmt.Printf("%s\n%d of %d mutants\n", out.Render(), len(some), len(mutants))
	for i, r := range ends { // where a long output is cut, its end is what is seen
		if r.end != killed {
			fmt.Printf("%s: %s\n", some[i].name, r.end)
		}
	}
}

// result is what became of a mutant: killed and the test that noticed, or what else happened.
type result struct {
	end, by string
	took    time.Duration
}

const killed = "killed"

// run builds the mutant of the module at root, with files in a folder of its own, and runs its tests. A test that ran out of time noticed nothing, as the
// machine may only be busy.
func (m mutant) run(ctx context.Context, root, folder string) (r result) {
	begin := time.Now()
	defer func() { r.took = time.Since(begin) }()
	overlay, err := m.overlay(root, folder)
	if err != nil {
		return result{end: "is not made", by: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	args := append([]string{"test", "-overlay", overlay, "-count=1", "-failfast", "-vet=off", "-ldflags=-s -w", "-timeout", "2m"}, strings.Fields(m.test)...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "BRAID_SEEDS=1500", "BRAID_MUTANTS=", "BRAID_PART=", "BRAID_SEED=")
	text, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return result{end: "survived"}
	case strings.Contains(string(text), "[build failed]") || strings.Contains(string(text), "[setup failed]"):
		return result{end: "does not build", by: string(text)}
	case ctx.Err() != nil || strings.Contains(string(text), "panic: test timed out"):
		return result{end: "not decided in time", by: string(text)}
	}
	return result{end: killed, by: firstLine(string(text))}
}

// overlay makes the broken file, and the file that tells the Go command to take it instead.
func (m mutant) overlay(root, folder string) (string, error) {
	file := filepath.Join(root, m.file)
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	broken, overlay := filepath.Join(folder, filepath.Base(m.file)), filepath.Join(folder, "overlay.json")
	j, err := json.Marshal(map[string]any{"Replace": map[string]string{file: broken}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(os.Mkdir(folder, 0o700),
		os.WriteFile(broken, []byte(strings.Replace(string(b), m.old, m.new, 1)), 0o600), os.WriteFile(overlay, j, 0o600))
}

func firstLine(text string) string {
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "--- FAIL") || strings.HasPrefix(l, "panic:") {
			return strings.TrimPrefix(strings.TrimSpace(l), "--- ")
		}
	}
	return "?"
}
