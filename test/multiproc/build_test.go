package multiproc

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// root is the module under test.
const root = "../.."

// tiny is a program of somebody who uses the library.
const tiny = `package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/openbraid/braid"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	n, err := braid.Open(braid.Options{})
	if err != nil {
		return err
	}
	defer n.Close()
	w, err := n.NewWorker()
	if err != nil {
		return err
	}
	w.HandleAM(1, func(m *braid.Message) { fmt.Println(string(m.Payload())) })
	ln, err := w.Listen(":0")
	if err != nil {
		return err
	}
	ep, err := w.Dial(ctx, ln.Addr())
	if err != nil {
		return err
	}
	if err := ep.SendAM(ctx, 1, nil, []byte("it works")); err != nil {
		return err
	}
	return ep.Close(ctx)
}
`

// goTool runs the go command in dir, offline and with the toolchain that is there.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(within(t, 4*patience), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off")
	var noise bytes.Buffer
	cmd.Stderr = &noise
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, &noise)
	}
	return string(out)
}

func needGo(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("needs the go command: %v", err)
	}
}

// goMod is what the tests read of a go.mod.
type goMod struct {
	Go      string
	Require []struct{ Path, Version string }
}

func readGoMod(t *testing.T) (m goMod) {
	t.Helper()
	if err := json.Unmarshal([]byte(goTool(t, root, "mod", "edit", "-json")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestH5_Build: a module that requires this one builds without a C compiler and without a network, needs nothing beyond
// golang.org/x, and what it builds works.
func TestH5_Build(t *testing.T) {
	begin(t)
	needGo(t)
	dir := t.TempDir()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	m := readGoMod(t)
	mod := "module example.test/tiny\n\ngo " + m.Go + "\n\nrequire github.com/openbraid/braid v0.0.0\n"
	for _, r := range m.Require {
		if strings.HasPrefix(r.Path, "golang.org/x/sys") {
			mod += "\nrequire " + r.Path + " " + r.Version + "\n"
		}
	}
	mod += "\nreplace github.com/openbraid/braid => " + here + "\n"
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"go.mod": []byte(mod), "go.sum": sums, "main.go": []byte(tiny)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "tiny")
	goTool(t, dir, "build", "-buildvcs=false", "-o", program, ".")

	out, err := exec.CommandContext(within(t, patience), program).CombinedOutput()
	if err != nil || string(out) != "it works\n" {
		t.Errorf("it prints %q, %v", out, err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range info.Deps {
		if d.Path != "github.com/openbraid/braid" && !strings.HasPrefix(d.Path, "golang.org/x/") {
			t.Errorf("the program contains %s", d.Path)
		}
	}
}

// TestH8_NoSideEffects: the module builds with the toolchain that is there, and doing so changes nobody's settings.
func TestH8_NoSideEffects(t *testing.T) {
	begin(t)
	needGo(t)
	before := goSettings(t)
	packages := "."
	if !testing.Short() {
		packages = "./..."
	}
	cmd := exec.CommandContext(within(t, 4*patience), "go", "vet", packages)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOPROXY=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go vet %s with the local toolchain: %v\n%s", packages, err, out)
	}
	if diff := cmp.Diff(before, goSettings(t)); diff != "" {
		t.Errorf("the user's settings changed (-before +after):\n%s", diff)
	}
}

// goSettings are the go command's settings, the user's file of them, and this module's own two files.
func goSettings(t *testing.T) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(within(t, patience), "go", "env", "-json")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	if err := json.Unmarshal(out, &settings); err != nil {
		t.Fatal(err)
	}
	delete(settings, "GOGCCFLAGS") // names a folder that is another each time
	for _, name := range []string{settings["GOENV"], filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum")} {
		text, err := os.ReadFile(name)
		if err != nil {
			text = []byte("unreadable: " + err.Error())
		}
		settings["file "+name] = string(text)
	}
	return settings
}
