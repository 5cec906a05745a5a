package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openbraid/braid"
)

// TestSettingsReachBothProcesses: a file and flags hold in the process that a command starts, too: without the secret of the file the two would
// not let each other in, and the lanes are the flag's.
func TestSettingsReachBothProcesses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "braid.conf")
	if err := os.WriteFile(file, []byte("lanes = 3\ndial-wait = 30s\nhandshake = 30s\nsecret = "+braid.NewSecret().Text()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`"lanes":3,`: {"--config", file}, `"lanes":2,`: {"--config", file, "--set", "lanes=2"}, `"lanes":4,`: {"--config", file, "--set", "lanes=2", "--lanes", "4"}, `"lanes":1,`: nil,
	} {
		out, errs, status := built(t, append([]string{"perftest", "--spawn", "-t", "am_lat", "-n", "10", "-w", "0", "--json"}, args...)...)
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("%q: status %d, %s%s, want %s", args, status, out, errs, want)
		}
	}
}
