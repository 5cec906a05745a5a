package ends_test

import (
	"strings"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/fault"
	"github.com/openbraid/braid/internal/perf/ends"
	"github.com/openbraid/braid/internal/perf/trial"
)

// Lanes run on what the result names, whatever the environment would have instead or besides.
func TestTransportIsWhatIsSaid(t *testing.T) {
	for _, list := range []string{"shm", "rc", "tcp,shm"} {
		s := &braid.Settings{}
		if err := s.Set("transports", list, "test"); err != nil {
			t.Fatal(err)
		}
		if got := valueOf(t, ends.Setup{Settings: s}, "transports"); got != "tcp" {
			t.Errorf("transports %s: it is %s", list, got)
		}
	}
}

// valueOf is one of a node's settings.
func valueOf(t *testing.T, s ends.Setup, name string) string {
	t.Helper()
	n, _, err := ends.Open(s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, v := range n.Settings() {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// TestDefaults: what is set here is no part of the question, and what the user has set counts more.
func TestDefaults(t *testing.T) {
	said := &braid.Settings{}
	if err := said.Set("suspended", "7s", "test"); err != nil {
		t.Fatal(err)
	}
	cut, kill := &trial.Options{}, &trial.Options{Plan: fault.Plan{{Action: fault.Kill}}}
	for _, c := range []struct {
		s          ends.Setup
		name, want string
	}{
		{ends.Setup{}, "lanes", "1"},
		{ends.Setup{}, "message", "1GiB"},
		{ends.Setup{}, "error-mode", "failover"},
		{ends.Setup{ErrorMode: braid.None}, "error-mode", "none"},
		{ends.Setup{}, "suspended", "2s"},
		{ends.Setup{Faults: cut}, "suspended", "30s"},
		{ends.Setup{Faults: kill}, "suspended", "10s"},
		{ends.Setup{Settings: said}, "suspended", "7s"},
		{ends.Setup{Settings: said, Faults: cut}, "suspended", "7s"},
		{ends.Setup{Sleep: true}, "wait", "sleep"},
		{ends.Setup{Spin: true, Shared: true}, "wait", "poll"},
		{ends.Setup{Transport: "shm+tcp"}, "rails", "127.0.0.1,127.0.0.2"},
	} {
		if got := valueOf(t, c.s, c.name); got != c.want {
			t.Errorf("%+v: %s is %q, want %q", c.s, c.name, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		s    ends.Setup
		text string
	}{
		{ends.Setup{Transport: "self"}, "within one worker"},
		{ends.Setup{Sleep: true, Shared: true}, "--owned"},
		{ends.Setup{CPUs: "x"}, "cpu"},
	} {
		if err := c.s.Validate(); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
	if s := (ends.Setup{}); s.Validate() != nil || s.Transport != "tcp" {
		t.Errorf("%+v", s)
	}
}
