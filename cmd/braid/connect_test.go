package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/connect"
	"github.com/openbraid/braid/cmd/braid/shell"
)

// TestSecretCommand: what it prints is one line, another each time, and read back from a file and from the environment.
func TestSecretCommand(t *testing.T) {
	status, out, errs := command(t, "secret")
	_, other, _ := command(t, "secret")
	if status != 0 || errs != "" || strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") || out == other {
		t.Fatalf("status %d, %q and %q, errors %q", status, out, other, errs)
	}
	want, err := braid.ParseSecret(out)
	if err != nil {
		t.Fatal(err)
	}
	file := secretFile(t, out)
	t.Setenv("BRAID_SECRET", strings.TrimSpace(other))
	if s, err := (&connect.SecretFlags{SecretFile: file}).Secret(); err != nil || !s.Equal(want) {
		t.Errorf("from the file, which counts more than the environment: %v, %v", s, err)
	}
	t.Setenv("BRAID_SECRET", strings.TrimSpace(out))
	if s, err := (&connect.SecretFlags{}).Secret(); err != nil || !s.Equal(want) {
		t.Errorf("from the environment: %v, %v", s, err)
	}
	if _, err := (&connect.SecretFlags{SecretFile: want.Text()}).Secret(); err == nil || strings.Contains(err.Error(), want.Text()[20:]) {
		t.Errorf("a secret in the place of its file's name: %v", err)
	}
	os.Unsetenv("BRAID_SECRET")
	if s, err := (&connect.SecretFlags{}).Secret(); err != nil || s.IsSet() {
		t.Errorf("from nowhere: %v, %v", s, err)
	}
}

func secretFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "braid.secret")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSecretMistakes: what is no secret is a usage error that names where it came from and shows nothing of it.
func TestSecretMistakes(t *testing.T) {
	good := braid.NewSecret().Text()
	for name, c := range map[string]struct{ text, want string }{
		"empty": {"\n", "empty"}, "a password": {"correct horse battery staple", "braid secret"}, "cut": {good[:50], "copied"},
		"too short": {strings.Repeat("0f", 15), "15 bytes"}, "two lines": {good + "\n" + good, "copied"}, "too long": {good + strings.Repeat("\n", 5000), "4096"},
	} {
		file := secretFile(t, c.text)
		for from, args := range map[string][]string{file: {"perftest", "--secret-file", file}, "$BRAID_SECRET": {"perftest"}} {
			if from == "$BRAID_SECRET" {
				if name == "too long" {
					continue
				}
				t.Setenv("BRAID_SECRET", c.text)
			} else {
				os.Unsetenv("BRAID_SECRET")
			}
			status, out, errs := command(t, args...)
			if status != shell.BadUsage || out != "" || !strings.Contains(errs, from) || !strings.Contains(errs, c.want) {
				t.Errorf("%s, %s: status %d, %q", name, from, status, errs)
			}
			if strings.Contains(errs, "horse") || strings.Contains(errs, good[20:30]) {
				t.Errorf("%s: shown: %s", name, errs)
			}
		}
	}
	os.Unsetenv("BRAID_SECRET")
	for path, want := range map[string]string{filepath.Join(t.TempDir(), "none"): "no such file", t.TempDir(): "directory"} {
		if status, _, errs := command(t, "perftest", "--secret-file", path); status != shell.BadUsage || strings.Count(errs, path) != 1 || !strings.Contains(errs, want) {
			t.Errorf("status %d, %q", status, errs)
		}
	}
}

// TestSecretsOfCommands: commands with the same secret get together, by a file or by the environment. Others don't, and both sides say why.
func TestSecretsOfCommands(t *testing.T) {
	mine, other := braid.NewSecret().Text(), braid.NewSecret().Text()
	file, wrong := secretFile(t, mine), secretFile(t, other)
	data := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(data, []byte("something"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	addr := ""
	for args, want := range map[string]string{"": "asks for a secret", "--secret-file=" + wrong: "different secrets"} {
		var p *running
		p, addr = recv(t, "--secret-file", file, dir)
		status, _, errs := command(t, strings.Fields("send -q "+data+" "+addr+" "+args)...)
		const how = "give both the same (a secret is given by --secret-file FILE, or in $BRAID_SECRET)"
		if status != shell.Failed || !strings.Contains(errs, want) || !strings.Contains(errs, how) {
			t.Errorf("send %s: status %d, %s", args, status, errs)
		}
		if line := p.line("was turned away"); !strings.Contains(line, want) || !strings.Contains(line, how) {
			t.Error(line)
		}
	}
	t.Setenv("BRAID_SECRET", mine)
	if status, _, errs := command(t, "send", "-q", data, addr); status != 0 {
		t.Errorf("with the secret: status %d, %s", status, errs)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "data")); err != nil || string(b) != "something" {
		t.Errorf("%q, %v", b, err)
	}
	spawn := []string{"perftest", "--spawn", "-t", "am_lat", "-n", "100", "-w", "10", "-f"}
	if out, errs, status := built(t, spawn...); status != 0 {
		t.Errorf("perftest --spawn, both by the environment: status %d, %s %s", status, out, errs)
	}
	os.Unsetenv("BRAID_SECRET")
	if out, errs, status := built(t, append(spawn, "--secret-file", file)...); status != 0 {
		t.Errorf("perftest --spawn, both by the file: status %d, %s %s", status, out, errs)
	}
}
