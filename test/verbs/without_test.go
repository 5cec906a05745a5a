//go:build linux && verbs

package verbs

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/rdma/verbs"
)

// TestH10_Fallback: who asks for adapters where there are some, on a host whose libibverbs is missing or too old, gets TCP and one line in the log; who insists hears
// why there are none. The program starts all the same. And where there is one, it is used.
func TestH10_Fallback(t *testing.T) {
	if how := os.Getenv("BRAID_VERBS_WITHOUT"); how != "" {
		without(t, how)
		return
	}
	found, err := filepath.Glob("/usr/lib/*/" + verbs.Library)
	if err != nil || len(found) == 0 {
		t.Fatalf("where is %s? %v", verbs.Library, err)
	}
	other := filepath.Join(filepath.Dir(found[0]), "libm.so.6") // a library that has nothing of it, as if it were from before
	for how, instead := range map[string]string{"missing": "/dev/null", "too old": other, "there": found[0]} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command("sh", "-c", `mount --bind "$1" "$2" && exec "$3" -test.run='^TestH10_Fallback$' -test.v`, "sh", instead, found[0], os.Args[0])
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			cmd.Env = append(os.Environ(), "BRAID_VERBS_WITHOUT="+how)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestH10_Fallback") {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// without is the test in a process of its own, with another libibverbs.
func without(t *testing.T, how string) {
	if _, err := verbs.List(); (how == "there") != (err == nil) || err != nil && !errors.Is(err, verbs.ErrNoLibrary) {
		t.Fatalf("libibverbs is %s: %v", how, err)
	}
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	one := node(t, braid.Options{Settings: settings(t, "verbs,tcp,self"), Log: log})
	two := node(t, braid.Options{Settings: settings(t, "verbs,tcp,self")})
	got := make(chan string, 1)
	one.HandleAM(1, func(m *braid.Message) { got <- string(m.Payload()) })
	ln, err := one.Listen(net.JoinHostPort(rails(t)[0], "0"))
	if err != nil {
		t.Fatal(err)
	}
	ep, err := two.Dial(t.Context(), ln.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := ep.SendAM(t.Context(), 1, nil, []byte(how)); err != nil || <-got != how {
		t.Errorf("sent: %v", err)
	}
	if err := ep.Close(t.Context()); err != nil {
		t.Error(err)
	}
	want := 1
	if how == "there" {
		want = 0
		if verbs.Objects() == 0 {
			t.Error("there is one, and nothing of it is used")
		}
	}
	if n := strings.Count(said.String(), "\n"); n != want || want == 1 && !strings.Contains(said.String(), "libibverbs") {
		t.Errorf("%d lines in the log:\n%s", n, said.String())
	}
	t.Log(said.String())
	if how == "there" {
		return
	}
	if _, err := node(t, braid.Options{Settings: settings(t, "verbs,self")}).Listen(net.JoinHostPort(rails(t)[0], "0")); !errors.Is(err, verbs.ErrNoLibrary) {
		t.Errorf("who insists on adapters: %v", err)
	}
}
