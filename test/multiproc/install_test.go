package multiproc

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// publish makes a folder that serves this module as the Go command's proxies do, as the version given.
func publish(t *testing.T, version string) string {
	t.Helper()
	const module = "github.com/openbraid/braid"
	dir := t.TempDir()
	at := filepath.Join(dir, module, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".mod": string(mod), version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name, _ := filepath.Rel(root, path); {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.Type().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			w, err := z.Create(module + "@" + version + "/" + filepath.ToSlash(name))
			if err == nil {
				_, err = w.Write(text)
			}
			return err
		}
		return nil
	})
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestH6_Install: the command is installed as the README of any Go program says, with its version in it, and works. What it depends on comes
// from this machine's cache.
func TestH6_Install(t *testing.T) {
	begin(t)
	needGo(t)
	const version = "v0.3.7"
	cache := strings.TrimSpace(goTool(t, root, "env", "GOMODCACHE"))
	bin, mods := t.TempDir(), t.TempDir()
	// -trimpath: what was built in a folder of before is the same.
	cmd := exec.CommandContext(within(t, 40*patience), "go", "install", "-trimpath", "-modcacherw", "github.com/openbraid/braid/cmd/braid@latest")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOTOOLCHAIN=local", "GOWORK=off", "GOSUMDB=off", "GOBIN="+bin, "GOMODCACHE="+mods,
		"GOPROXY=file://"+publish(t, version)+",file://"+filepath.Join(cache, "cache", "download"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(within(t, patience), filepath.Join(bin, "braid"), "--version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), version) {
		t.Errorf("%q, %v", out, err)
	}
	out, err = exec.CommandContext(within(t, 2*patience), filepath.Join(bin, "braid"), "perftest", "--spawn", "-t", "put_lat", "-n", "100", "-w", "0", "-f").CombinedOutput()
	if err != nil {
		t.Errorf("%s, %v", out, err)
	}
}
