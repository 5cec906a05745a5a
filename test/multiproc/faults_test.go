package multiproc

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// tool is the command, to be run inside of a namespace.
type tool struct {
	w    *world
	path string
}

// tool builds it.
func (w *world) tool(ctx context.Context) *tool {
	w.t.Helper()
	t := &tool{w, filepath.Join(w.t.TempDir(), "braid")}
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", t.path, "../../cmd/braid").CombinedOutput(); err != nil {
		w.t.Fatalf("go build: %v: %s", err, out)
	}
	return t
}

func (t *tool) in(ctx context.Context, ns string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", ns, t.path}, args...)...)
}

// TestB1_Plan: perftest between two hosts takes one of its own interfaces down, twice, while it streams: the other lane carries on,
// everything arrives once, and the lane comes back. The verdict says so, and what it cost; an interface that carries no lane is no effect.
func TestB1_Plan(t *testing.T) {
	begin(t)
	ctx := within(t, 4*time.Minute) // a build is part of it
	w := newWorld(t, 2)
	w.ip("-n", w.left, "link", "add", "idle0", "type", "veth", "peer", "name", "idle1")
	w.ip("-n", w.left, "link", "set", "idle0", "up")
	braid := w.tool(ctx)
	server := braid.in(ctx, w.right, "perftest", "--listen", "0.0.0.0", "--no-once")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	for plan, want := range map[string]string{
		"iface lane2 down after=200ms for=200ms every=1500ms count=2":       "ok",
		"iface idle0 down after=100ms for=100ms":                            "injector had no effect",
		"iface nosuch down for=100ms":                                       "injector failed",
		"pause lane=random for=20ms every=50ms count=10; rate 1Gbit for=1s": "ok",
	} {
		var r struct {
			Verdict  string   `json:"verdict"`
			Problems []string `json:"problems"`
			Lanes    int      `json:"lanes"`
			Hits     int      `json:"injector_hits"`
			Cuts     []struct {
				Kind     string
				Blackout float64 `json:"blackout_ms"`
			}
			Blackout *struct{ N int } `json:"blackout_ms"`
			Idle     int              `json:"idle_cuts"` // of lanes that had nothing under way: no blackout
		}
		var out []byte
		var err error
		ok := eventually(func() bool { // the server may not listen yet
			cmd := braid.in(ctx, w.left, "perftest", "10.77.1.2", "-t", "am_bw", "-s", "32k", "--lanes", "2", "--set", "redial-max=200ms", "--json", "--fault", plan)
			out, err = cmd.Output()
			return json.Unmarshal(out, &r) == nil
		})
		if !ok || r.Verdict != want || r.Lanes != 2 {
			t.Errorf("%s: %s, want %s: %q\n%s%s", plan, r.Verdict, want, r.Problems, out, said(err))
		}
		if r.Hits == 2 && (len(r.Cuts) == 0 || r.Cuts[0].Kind != "iface" || r.Cuts[0].Blackout < 0 || r.Blackout == nil && r.Idle == 0) {
			t.Errorf("%s: what it cost is not told\n%s", plan, out)
		}
	}
}

// said is what a command that failed wrote for people.
func said(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return string(exit.Stderr)
	}
	return ""
}

// TestBlackHole: packets of one rail go nowhere, and nothing says so: the neighbour has another address than is believed, or a route swallows what one side
// sends. The other lane takes over, and the lane comes back when packets pass again.
func TestBlackHole(t *testing.T) {
	for name, dig := range map[string]func(w *world) (fill func()){
		"neighbour": func(w *world) func() {
			w.ip("-n", w.left, "neigh", "replace", "10.77.2.2", "lladdr", "02:00:00:00:00:99", "dev", "lane2", "nud", "permanent")
			w.ip("-n", w.right, "neigh", "replace", "10.77.2.1", "lladdr", "02:00:00:00:00:98", "dev", "lane2", "nud", "permanent")
			return func() {
				w.ip("-n", w.left, "neigh", "del", "10.77.2.2", "dev", "lane2")
				w.ip("-n", w.right, "neigh", "del", "10.77.2.1", "dev", "lane2")
			}
		},
		"route": func(w *world) func() {
			w.ip("-n", w.right, "route", "add", "blackhole", "10.77.2.1/32")
			return func() { w.ip("-n", w.right, "route", "del", "blackhole", "10.77.2.1/32") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			begin(t)
			w := newWorld(t, 2)
			p := w.pair(sides{dialEnv: []string{"BRAID_REDIAL_MAX=200ms", "BRAID_HANDSHAKE=500ms"}})
			both := []string{"10.77.1.1->10.77.1.2", "10.77.2.1->10.77.2.2"}
			p.becomes(both...)
			fill := dig(w)
			p.becomes(both[0])
			fill()
			p.becomes(both...)
			p.ends()
		})
	}
}
