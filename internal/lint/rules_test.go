package lint

import (
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	fn := func(n int) string { return "package fsm\nfunc f() {" + lines(n-1) + "}\n" }
	lit := func(n int) string { return "package fsm\nvar f = func() {" + lines(n-1) + "}\n" }
	file := func(n int) string { return "package fsm\n" + lines(n-1) }
	run(t, []example{
		{"file at the limit", tree{"internal/fsm/a.go": file(500)}, nil},
		{"file above", tree{"internal/fsm/a.go": file(501)}, []string{"internal/fsm/a.go: sizes"}},
		{"test file above", tree{"internal/fsm/a_test.go": file(501)}, []string{"internal/fsm/a_test.go: sizes"}},
		{"last line without its end", tree{"internal/fsm/a.go": file(500) + "//"}, []string{"internal/fsm/a.go: sizes"}},
		{"function at the limit", tree{"internal/fsm/a.go": fn(70)}, nil},
		{"function above", tree{"internal/fsm/a.go": fn(71)}, []string{"internal/fsm/a.go:2: sizes"}},
		{"function of a test above", tree{"internal/fsm/a_test.go": fn(71)}, []string{"internal/fsm/a_test.go:2: sizes"}},
		{"literal at the limit", tree{"internal/fsm/a.go": lit(70)}, nil},
		{"literal above", tree{"internal/fsm/a.go": lit(71)}, []string{"internal/fsm/a.go:2: sizes"}},
		{"comment of a function is not counted", tree{"internal/fsm/a.go": "package fsm\n" + strings.Repeat("// c\n", 80) + "func f() {\n}\n"}, nil},
		{
			"package above", tree{
				"internal/fsm/a.go": file(500), "internal/fsm/b.go": file(500), "internal/fsm/c.go": file(500),
				"internal/fsm/d.go": file(500), "internal/fsm/e.go": file(500),
			}, []string{"internal/fsm: sizes"},
		},
		{
			"tests of a package are not counted", tree{
				"internal/fsm/a.go": file(500), "internal/fsm/b.go": file(500), "internal/fsm/c.go": file(500),
				"internal/fsm/d.go": file(500), "internal/fsm/e_test.go": file(500), "internal/fsm/f_test.go": file(500),
			}, nil,
		},
	})
}

func TestCounts(t *testing.T) {
	fields := func(n int) string { return strings.Repeat("_ int\n", n) }
	run(t, []example{
		{"5 parameters", tree{"internal/fsm/a.go": "package fsm\nfunc (s s) f(a, b int, c, d, e string) {}\ntype s struct{}\n"}, nil},
		{"6 parameters", tree{"internal/fsm/a.go": "package fsm\nfunc f(a, b int, c, d, e string, g any) {}\n"}, []string{"internal/fsm/a.go:2: sizes"}},
		{"6 unnamed in an interface", tree{"internal/fsm/a.go": "package fsm\ntype i interface {\n\tf(int, int, int, int, int, int)\n}\n"}, []string{"internal/fsm/a.go:3: sizes"}},
		{"20 fields", tree{"internal/fsm/a.go": "package fsm\ntype s struct {\n" + fields(20) + "}\n"}, nil},
		{"21 fields", tree{"internal/fsm/a.go": "package fsm\ntype s struct {\n" + fields(21) + "}\n"}, []string{"internal/fsm/a.go:2: sizes"}},
		{"20 fields and one embedded", tree{"internal/fsm/a.go": "package fsm\ntype e struct{}\ntype s struct {\ne\n" + fields(20) + "}\n"}, []string{"internal/fsm/a.go:3: sizes"}},
	})
}

func TestArrows(t *testing.T) {
	const (
		wire, contract, fault = "m.test/m/internal/wire", "m.test/m/transport", "m.test/m/fault"
		tcp, sim, suite       = "m.test/m/transport/tcp", "m.test/m/transport/sim", "m.test/m/transport/transporttest"
		worker, root          = "m.test/m/internal/worker", "m.test/m"
		lane, order, ledger   = "m.test/m/internal/lane", "m.test/m/internal/order", "m.test/m/internal/ledger"
	)
	one := func(name, file string, ok bool, paths ...string) example {
		pkg := file[:strings.LastIndex(file, "/")]
		pkg = pkg[strings.LastIndex(pkg, "/")+1:]
		if strings.HasSuffix(file, "x_test.go") {
			pkg += "_test"
		}
		e := example{name: name, files: tree{file: importing(pkg, paths...)}}
		if !ok {
			e.want = []string{file + ":2: arrows"}
		}
		return e
	}
	run(t, []example{
		one("down", "internal/worker/a.go", true, wire, contract, ledger, lane),
		one("up", "internal/lane/a.go", false, worker),
		one("sideways", "internal/lane/a.go", false, order),
		one("sideways in a test", "internal/lane/a_test.go", false, order),
		one("sideways in an external test", "internal/lane/ax_test.go", false, order),
		one("contract to service", "transport/a.go", true, wire),
		one("contract to implementation", "transport/a.go", false, tcp),
		one("engine to implementation", "internal/worker/a.go", false, tcp),
		one("engine to the simulated one", "internal/worker/a.go", false, sim),
		one("engine's own test to an implementation", "internal/worker/a_test.go", false, sim),
		one("engine's external test to an implementation", "internal/worker/ax_test.go", false, tcp),
		one("engine's external test to sim and fault", "internal/failover/ax_test.go", true, sim, fault),
		one("external test to its package", "internal/lane/ax_test.go", true, lane),
		one("contract's external test to a contract", "transport/ax_test.go", true, contract, fault, suite),
		one("implementation to ledger and fault", "transport/tcp/a.go", true, ledger, contract, fault),
		one("implementation to engine", "transport/rc/a.go", false, lane),
		one("implementation to suite", "transport/tcp/a.go", false, suite),
		one("implementation's tests to suite", "transport/tcp/a_test.go", true, suite),
		one("suite to contracts, sim and fault", "transport/transporttest/a.go", true, contract, sim, fault),
		one("suite to an implementation", "transport/transporttest/a.go", false, tcp),
		one("command to root", "cmd/braid/a.go", true, root, tcp),
		one("command to itself", "cmd/braid/a.go", true, "m.test/m/cmd/braid/demo"),
		one("engine to root", "internal/worker/a.go", false, root),
		one("whole-system test to everything", "test/meta/a.go", true, root, tcp, worker, suite),
		one("to whole-system tests", "cmd/braid/a.go", false, "m.test/m/test/meta"),
		one("external test to whole-system tests", "internal/worker/ax_test.go", false, "m.test/m/test/meta"),
		one("to a package without a row", "internal/worker/a.go", false, "m.test/m/internal/nowhere"),
	})
	run(t, []example{
		{"package without a row", tree{"internal/nowhere/a.go": "package nowhere\n"}, []string{"internal/nowhere: rooms"}},
		{"root to everything", tree{"a.go": importing("braid", tcp, worker)}, nil},
		{"root to suite", tree{"a.go": importing("braid", suite)}, []string{"a.go:2: arrows"}},
	})
}

func TestImports(t *testing.T) {
	const rapid, kong = "pgregory.net/rapid", "github.com/alecthomas/kong"
	run(t, []example{
		{"library to std and x", tree{"internal/fsm/a.go": importing("fsm", "net/netip", "golang.org/x/sys/unix")}, nil},
		{"library to others", tree{"internal/fsm/a.go": importing("fsm", rapid)}, []string{"internal/fsm/a.go:2: imports"}},
		{"root to others", tree{"a.go": importing("braid", kong)}, []string{"a.go:2: imports"}},
		{"tests to test modules", tree{"internal/fsm/a_test.go": importing("fsm", rapid)}, nil},
		{"tests to others", tree{"internal/fsm/a_test.go": importing("fsm", kong)}, []string{"internal/fsm/a_test.go:2: imports"}},
		{"a name that only begins like a test module's", tree{"internal/fsm/a_test.go": importing("fsm", rapid+"x")}, []string{"internal/fsm/a_test.go:2: imports"}},
		{"suite to test modules", tree{"transport/transporttest/a.go": importing("transporttest", rapid)}, nil},
		{"commands to others", tree{"cmd/braid/a.go": importing("braid", kong)}, nil},
		{"cgo", tree{"transport/tcp/a.go": importing("tcp", "C")}, []string{"transport/tcp/a.go:2: imports"}},
		{"cgo in a command", tree{"cmd/braid/a.go": importing("braid", "C")}, []string{"cmd/braid/a.go:2: imports"}},
		{"cgo in its room", tree{"rdma/verbs/a.go": importing("verbs", "C")}, nil},
	})
}

func TestNames(t *testing.T) {
	run(t, []example{
		{"no doc.go", tree{"internal/fsm/a.go": "package fsm\n", "internal/fsm/doc.go": "package fsm\n"}, []string{"internal/fsm/doc.go: names"}},
		{"comment that is cut off", tree{"internal/fsm/doc.go": "// Package fsm does.\n\npackage fsm\n"}, []string{"internal/fsm/doc.go: names"}},
		{"comment of another package", tree{"internal/fsm/doc.go": "// Package ring does.\npackage fsm\n"}, []string{"internal/fsm/doc.go:1: names"}},
		{"command", tree{"cmd/braid/doc.go": "// Command braid does.\npackage main\n"}, nil},
		{"command introduced as a package", tree{"cmd/braid/doc.go": "// Package main does.\npackage main\n"}, []string{"cmd/braid/doc.go:1: names"}},
		{"vague", tree{"internal/fsm/doc.go": "// Package util does.\npackage util\n"}, []string{"internal/fsm/doc.go:2: names"}},
		{"vague test", tree{"internal/fsm/a_test.go": "package helpers_test\n", "internal/fsm/doc.go": "// Package fsm does.\npackage fsm\n"}, []string{"internal/fsm/a_test.go:1: names"}},
	})
	// The helper above gives a folder its doc.go, so this one is linted by hand.
	m := &Module{Path: "m.test/m", Packages: []*Package{{Dir: "internal/fsm"}}}
	if got := Check(m); len(got) != 1 || got[0].Rule != "names" || got[0].File != "internal/fsm" {
		t.Errorf("a folder without doc.go: found %v", got)
	}
}

func TestBanned(t *testing.T) {
	const usesClock = "package p\nimport \"time\"\nvar d = time.Second\nvar n = time.Now\n"
	in := func(pkg string) string { return strings.Replace(usesClock, "package p", "package "+pkg, 1) }
	run(t, []example{
		{"clock in the engine", tree{"internal/worker/a.go": in("worker")}, []string{"internal/worker/a.go:4: banned"}},
		{"clock in a transport", tree{"transport/tcp/a.go": in("tcp")}, []string{"transport/tcp/a.go:4: banned"}},
		{"clock in a contract", tree{"transport/a.go": in("transport")}, []string{"transport/a.go:4: banned"}},
		{"clock in its room", tree{"internal/clock/a.go": in("clock")}, nil},
		{"clock in the root", tree{"a.go": in("braid")}, nil},
		{"clock in a test", tree{"transport/tcp/a_test.go": in("tcp")}, nil},
		{"clock under another name", tree{"internal/worker/a.go": "package worker\nimport t \"time\"\nfunc f() { t.Sleep(1) }\n"}, []string{"internal/worker/a.go:3: banned"}},
		{"a method with such a name", tree{"internal/worker/a.go": "package worker\ntype e struct{ Now func() }\nfunc f(time e) { time.Now() }\n"}, nil},
		{"global luck", tree{"internal/worker/a.go": "package worker\nimport \"math/rand/v2\"\nvar n = rand.IntN(3)\n"}, []string{"internal/worker/a.go:3: banned"}},
		{"seeded luck", tree{"internal/worker/a.go": "package worker\nimport \"math/rand/v2\"\nvar n *rand.Rand = rand.New(rand.NewPCG(1, 2))\n"}, nil},
		{"goroutine", tree{"transport/tcp/a.go": "package tcp\nfunc f() { go f() }\n"}, []string{"transport/tcp/a.go:2: banned"}},
		{"goroutine at an edge", tree{"cmd/braid/a.go": "package braid\nfunc f() { go f() }\n"}, nil},
		{"init", tree{"a.go": "package braid\nfunc init() {}\n"}, []string{"a.go:2: banned"}},
		{"init in a command", tree{"cmd/braid/a.go": "package braid\nfunc init() {}\n"}, nil},
		{"method init", tree{"a.go": "package braid\ntype s struct{}\nfunc (s) init() {}\n"}, nil},
		{"leftovers", tree{"cmd/braid/a.go": "package braid\n// TO" + "DO\n\nvar s = \"FIX" + "ME\" // XX" + "X\n"}, []string{
			"cmd/braid/a.go:2: banned", "cmd/braid/a.go:4: banned", "cmd/braid/a.go:4: banned",
		}},
	})
}

func TestDocs(t *testing.T) {
	one := func(name, decl string, ok bool) example {
		e := example{name: name, files: tree{"fault/a.go": "package fault\n\n" + decl}}
		if !ok {
			e.want = []string{"fault/a.go:3: docs"}
		}
		return e
	}
	run(t, []example{
		one("function", "func F() {}\n", false),
		one("function with comment", "// F does.\nfunc F() {}\n", true),
		one("function for itself", "func f() {}\n", true),
		one("method", "func (s *S) F() {}\n// S is.\ntype S struct{}\n", false),
		one("method of a generic type", "func (s *S[T]) F() {}\n// S is.\ntype S[T any] struct{}\n", false),
		one("method of a type for itself", "func (s s) F() {}\ntype s struct{}\n", true),
		one("method that is obvious", "func (s S) String() string { return \"\" }\n// S is.\ntype S struct{}\n", true),
		one("type", "type T int\n", false),
		one("type with comment behind", "type T int // is\n", true),
		one("constant", "const C = 1\n", false),
		one("constants with one comment", "// Both are.\nconst (\n\tC = 1\n\tD = 2\n)\n", true),
		one("variable", "var v, V int\n", false),
		{"group of types", tree{"fault/a.go": "package fault\n\n// Both.\ntype (\n\t// A is.\n\tA int\n\tB int\n)\n"}, []string{"fault/a.go:7: docs"}},
		{"not a public package", tree{"internal/fsm/a.go": "package fsm\nfunc F() {}\n"}, nil},
		{"test of a public package", tree{"fault/a_test.go": "package fault\nfunc F() {}\n"}, nil},
	})
}

// TestLoad: what the go command leaves out is left out, and what can't be read is said.
func TestLoad(t *testing.T) {
	bad := "package ring\nfunc init() {}\n"
	run(t, []example{{"left out", tree{
		"internal/ring/testdata/a.go": bad, "_old/a.go": bad, ".ci/a.go": bad, "internal/ring/_a.go": bad,
		"tools/go.mod": "module x\n", "tools/a.go": bad,
	}, nil}})
	for name, root := range map[string]tree{
		"no module line":    {"go.mod": "go 1.26\n"},
		"file that is none": {"go.mod": "module m\n", "a.go": "package\n"},
	} {
		if _, err := Load(root.fs()); err == nil {
			t.Errorf("%s: Load said nothing", name)
		}
	}
}
