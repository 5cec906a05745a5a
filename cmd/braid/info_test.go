package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/info"
	"github.com/openbraid/braid/internal/wire"
)

// report runs braid info --json.
func report(t *testing.T, args ...string) (r info.Report, status int) {
	t.Helper()
	status, out, errs := command(t, append([]string{"info", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s, errors %s", err, out, errs)
	}
	return r, status
}

// TestD9_EachSettingIsExplained: info config has each key with value, who said it, default, what may be written, and what it is.
func TestD9_EachSettingIsExplained(t *testing.T) {
	file := filepath.Join(t.TempDir(), "braid.conf")
	if err := os.WriteFile(file, []byte("close = 6s"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BRAID_CONFIG", file)
	t.Setenv("BRAID_LANES", "3")
	t.Setenv("BRAID_KEEPALVE", "3s")
	status, out, errs := command(t, "info", "config", "--set", "keepalive=2s")
	if status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(out) {
		if words := strings.Fields(line); len(words) > 4 {
			rows[words[0]] = words
		}
	}
	for _, s := range new(braid.Settings).List() {
		row := rows[s.Name]
		if row == nil || row[3] != cmp.Or(s.Default, "-") || !strings.Contains(out, s.Text) {
			t.Errorf("%s: %q", s.Name, row)
		}
	}
	for key, want := range map[string][]string{"keepalive": {"2s", "--set", "1s", "time"}, "lanes": {"3", "BRAID_LANES", "auto", "-"}, "close": {"6s", file + ":1", "5s", "time"}, "window": {"4MiB", "default", "4MiB", "bytes"}} {
		if row := rows[key]; len(row) < 5 || !slices.Equal(row[1:5], want) {
			t.Errorf("%s: %q, want %q", key, row, want)
		}
	}
	if !strings.Contains(errs, "BRAID_KEEPALVE") || !strings.Contains(errs, "did you mean BRAID_KEEPALIVE?") {
		t.Errorf("no warning: %s", errs)
	}
	_, out, _ = command(t, "info", "config", "lost-after", "BRAID_RAILS")
	for _, want := range []string{"lost-after = 30ms", "Options.Times.Lost", "BRAID_LOST_AFTER", "a time from", "rails = auto"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s lacks %s", out, want)
		}
	}
	if strings.Contains(out, "keepalive =") {
		t.Errorf("more than was asked for: %s", out)
	}
}

// TestInfoMistakes: what is wrong is told, all of it, and the rest is shown.
func TestInfoMistakes(t *testing.T) {
	t.Setenv("BRAID_LANES", "many")
	t.Setenv("BRAID_SECRET", "")
	status, out, errs := command(t, "info", "config", "--set", "widnow=3", "--set", "close=1m", "--set", "secret=x", "--set", "lanes", "--config", "/none/such")
	if status != shell.BadUsage || !strings.Contains(out, "close ") || !strings.Contains(out, "1m ") {
		t.Errorf("status %d: %s", status, out)
	}
	for _, want := range []string{
		"open /none/such: no such file", "BRAID_LANES: lanes can't be \"many\": want a number", "--set: no setting is named \"widnow\"; did you mean window?",
		"--set secret: others would see it", "--set lanes: want KEY=VALUE", "$BRAID_SECRET: ",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("%s\nlacks %s", errs, want)
		}
	}
	os.Unsetenv("BRAID_SECRET")
	r, status := report(t)
	if status != shell.BadUsage || len(r.Errors) != 1 || !strings.Contains(r.Errors[0], "BRAID_LANES") || r.Build == nil || len(r.Config) == 0 {
		t.Errorf("status %d, %+v", status, r)
	}
	os.Unsetenv("BRAID_LANES")
	for _, c := range []struct{ args, want string }{
		{"info nothing", "must be one of"}, {"info build x", "x: only config"}, {"info config widnow", "did you mean window?"},
		{"info --set lost-after=1ms", "probe-after (10ms, default) must not be above lost-after (1ms, --set)"},
		{"perftest --set lost-after=1ms", "must not be above"}, {"perftest --set keepalive=1", "want a time"}, {"perftest --config /none/such", "no such file"},
	} {
		if status, _, errs := command(t, strings.Fields(c.args)...); status != shell.BadUsage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d: %s", c.args, status, errs)
		}
	}
}

// TestInfoTopics: a topic that is none is answered with those that are.
func TestInfoTopics(t *testing.T) {
	t.Parallel()
	if _, people, status := built(t, "info", "foo"); status != 2 || !strings.Contains(people, `must be one of "build"`) {
		t.Errorf("%d: %s", status, people)
	}
}

// TestC7_DescriptorsAndPorts: how many endpoints a process may have is told before it has them.
func TestC7_DescriptorsAndPorts(t *testing.T) {
	r, _ := report(t, "limits")
	for _, name := range []string{"open_files", "ports"} {
		if i := slices.IndexFunc(r.Limits, func(l info.Limit) bool { return l.Name == name }); i < 0 || r.Limits[i].Value == 0 {
			t.Errorf("nothing of %s in %+v", name, r.Limits)
		}
	}
}

// TestH4_WhatCarriesLanes: it is told what carries lanes, and, where RDMA does not, why not and what would.
func TestH4_WhatCarriesLanes(t *testing.T) {
	r, _ := report(t)
	if !slices.ContainsFunc(r.Transports, func(x info.Transport) bool { return x.Name == "tcp" && x.Used }) || r.Devices.Why == "" || !strings.Contains(r.Devices.Why, "verbs") {
		t.Errorf("%+v %+v", r.Transports, r.Devices)
	}
}

// TestInfoParts: what is here, for people and for programs. (E22: the build names itself. D11: what a list of transports does is shown.)
// TestE22_WhichBuild: info says which build this is and which peers it speaks with; what a dial of another one says is TestC15_VersionsAndRefusals.
func TestE22_WhichBuild(t *testing.T) {
	status, out, _ := command(t, "info", "build")
	for _, want := range []string{"\n  version ", "\n  source ", "\n  wire     " + wire.Ours().String() + " (peers must have the same first number)", "\n  go       " + runtime.Version()} {
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("status %d, no %q in\n%s", status, want, out)
		}
	}
}

func TestInfoParts(t *testing.T) {
	status, out, errs := command(t, "info")
	if status != 0 || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	for _, want := range []string{"build\n", "\n  wire ", "\ntransports\n", "\n  tcp ", "\nrails\n", "127.0.0.1/8", "\ndevices\n", "; none is used: verbs: this program was built without libibverbs: ", "\nlimits of this system\n", "open files ", "\nsettings\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	r, _ := report(t, "--set", "transports=self")
	if r.Build.Go == "" || r.Build.Wire == "" || r.Devices.Why == "" || len(r.Rails) == 0 || len(r.Config) != len(new(braid.Settings).List()) {
		t.Errorf("%+v", r)
	}
	if i := slices.IndexFunc(r.Limits, func(l info.Limit) bool { return l.Name == "open_files" }); i < 0 || r.Limits[i].Value == 0 {
		t.Errorf("%+v", r.Limits)
	}
	if x := r.Transports; len(x) < 3 || x[0].Name != "tcp" || !x[0].Used || !strings.Contains(x[0].Why, "kept") || !x[1].Used || x[1].MaxFrame == 0 {
		t.Errorf("%+v", x)
	}
	if x, _ := report(t); runtime.GOOS == "linux" && !slices.ContainsFunc(x.Transports, func(t info.Transport) bool { return t.Name == "shm" && t.Used && t.Here }) {
		t.Errorf("%+v", x.Transports)
	}
	if x, _ := report(t, "--set", "transports=tcp"); x.Transports[1].Used {
		t.Errorf("%+v", x.Transports)
	}
	x, _ := report(t, "--set", "transports=rc")
	if last := x.Transports[len(x.Transports)-1]; last.Name != "rc" || !last.Used || x.Transports[0].Used || !strings.Contains(x.Transports[0].Why, "rc") {
		t.Errorf("%+v", x.Transports)
	}
	x, _ = report(t, "--set", "transports=verbs")
	if last := x.Transports[len(x.Transports)-1]; last.Name != "rc" || last.Used == strings.Contains(last.Why, "built without libibverbs") || x.Transports[0].Used || x.Devices.Why == "" {
		t.Errorf("%+v %+v", x.Transports, x.Devices)
	}
	if x, _ := report(t, "limits"); x.Limits == nil || x.Build != nil || x.Config != nil {
		t.Errorf("%+v", x)
	}
}

// TestInfoTransports: what this build can't do is not used, and what never happens is no number.
func TestInfoTransports(t *testing.T) {
	status, out, _ := command(t, "info", "transports", "--set", "transports=verbs")
	i := strings.Index(out, "\n  rc ")
	if i < 0 || status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	row := out[i+1:]
	if built := !strings.Contains(row, "built without libibverbs"); (strings.Fields(row)[1] == "yes") != built || !strings.Contains(row, " never ") {
		t.Error(row)
	}
}

// TestInfoNames: the names in JSON are stable.
func TestInfoNames(t *testing.T) {
	full := info.Report{
		Build: &info.Build{Revision: "x", Modified: true}, Transports: []info.Transport{{}}, Rails: []info.Rail{{Mbits: 1, Reason: "x"}}, Devices: &info.Devices{Ports: []info.Port{{Reason: "x"}}},
		Limits: []info.Limit{{}}, Config: []info.Setting{{Where: "x", Unit: "x", Auto: "x", Option: "x"}}, Warnings: []string{""}, Errors: []string{""},
	}
	b, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"build":{"version":"","revision":"x","modified":true,"wire":"","go":"","os":"","arch":""},` +
		`"transports":[{"name":"","used":false,"why":"","max_frame":0,"local":false,"here":false,"zero_copy":0}],` +
		`"rails":[{"interface":"","address":"","bits":0,"mtu":0,"mbits":1,"usable":false,"reason":"x"}],"devices":{"rdma":null,"used":false,"why":"","ports":[{"device":"","port":0,"state":"","mtu":0,"addresses":null,"reason":"x"}]},` +
		`"limits":[{"name":"","value":0,"unit":"","text":""}],` +
		`"config":[{"key":"","value":"","origin":"","where":"x","default":"","unit":"x","grammar":"","auto":"x","variable":"","option":"x","text":""}],` +
		`"warnings":[""],"errors":[""]}`
	if string(b) != want {
		t.Errorf("%s\nwant\n%s", b, want)
	}
}

// TestSecretDoesNotShow: not in any form of info.
func TestSecretDoesNotShow(t *testing.T) {
	text := braid.NewSecret().Text()
	t.Setenv("BRAID_SECRET", text)
	for _, args := range [][]string{{"info"}, {"info", "config"}, {"info", "config", "secret"}, {"info", "--json"}} {
		if _, out, errs := command(t, args...); strings.Contains(out+errs, text) {
			t.Errorf("%q shows it", args)
		}
	}
	var r info.Report
	r, _ = report(t, "config", "secret")
	if len(r.Config) != 1 || r.Config[0].Value != "set" || r.Config[0].Where != "BRAID_SECRET" {
		t.Errorf("%+v", r.Config)
	}
}
