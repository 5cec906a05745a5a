package main

import (
	"strings"
	"testing"
)

// TestRails: --rails is checked before anything is started; what is not there is said with what there is.
func TestRails(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{"--rails", "10.0.0"}, 2, []string{`--rails: rail "10.0.0"`, "it is no address", "write an interface (eth0)"}},
		{[]string{"--set", "rails=10.0.0.0/99"}, 2, []string{`rail "10.0.0.0/99"`, "no network"}},
		{[]string{"--rails", ""}, 2, []string{"--rails: rails"}},
		{[]string{"--rails="}, 2, []string{"--rails: rails"}},
		{[]string{"--set", "rails="}, 2, []string{"--set: rails"}},
		{[]string{"--rails", "lo", "--rails", "nosuch0", "-n", "10", "-w", "0"}, 0, []string{"warning: rail nosuch0"}},
		{[]string{"--rails", "nosuch0"}, 2, []string{"rails nosuch0", "none can be used", "127.0.0.1", "braid info rails"}},
		{[]string{"--rails", "127.0.0.1,nosuch0", "-n", "10", "-w", "0"}, 0, []string{"warning: rail nosuch0: nothing on this host matches it; there are", "127.0.0.1"}},
		{[]string{"--rails", "!nosuch*,lo", "-n", "10", "-w", "0"}, 0, nil},
	} {
		_, errs, status := built(t, append([]string{"perftest", "--spawn", "-t", "put_lat"}, c.args...)...)
		if status != c.status {
			t.Errorf("%q: status %d: %s", c.args, status, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%q: no %q in %q", c.args, want, errs)
			}
		}
	}
}

// TestD9_RailsByVariable: which interface a process uses is said by a variable, and shown with where it was said.
func TestD9_RailsByVariable(t *testing.T) {
	t.Setenv("BRAID_RAILS", "lo")
	_, out, errs := command(t, "info", "rails")
	if first, _, _ := strings.Cut(strings.TrimPrefix(out, "rails\n"), "\n"); !strings.Contains(first, "LANES") || !strings.Contains(out, "yes    towards this host only") || !strings.Contains(out, "not among the rails chosen (lo)") && strings.Contains(out, "eth0") {
		t.Errorf("%s%s", out, errs)
	}
	if _, out, _ = command(t, "info", "config", "rails"); !strings.Contains(out, "BRAID_RAILS") || !strings.Contains(out, "lo") {
		t.Error(out)
	}
}
