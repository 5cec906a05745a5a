package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/cpu"
)

// command runs a command line and returns its status, its output and its errors.
func command(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	var files [2]*os.File
	for i := range files {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	status := run(shell.World{Ctx: ctx, In: strings.NewReader(""), Out: shell.Output{File: files[0]}, ErrOut: shell.Output{File: files[1]}}, args)
	var text [2]string
	for i, f := range files {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		text[i] = string(b)
	}
	return status, text[0], text[1]
}

// server starts one in this process and returns its address.
func server(t *testing.T) string {
	t.Helper()
	addr, _ := serving(t, false)
	return addr
}

// serving is server, which may end by itself after one client.
func serving(t *testing.T, once bool) (addr string, end chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	bound, over := make(chan string, 1), make(chan struct{})
	end = make(chan error, 1)
	go func() {
		defer close(over)
		end <- perf.Serve(ctx, perf.ServerParams{Listen: "127.0.0.1:0", Once: once, Listening: func(a string) { bound <- a }})
	}()
	t.Cleanup(func() { cancel(); <-over })
	select {
	case addr = <-bound:
	case err := <-end:
		t.Fatal(err)
	}
	return addr, end
}

func TestG11_JSON(t *testing.T) {
	addr := server(t)
	for test, window := range map[string]float64{"am_bw": 32, "put_bw": 7, "get": 1} {
		t.Run(test, func(t *testing.T) {
			args := []string{"-t", "ucp_" + test, "-s", "1k", "-n", "500", "-w", "0", "--verify", "--lanes", "2", "--error-mode", "none", "--json"}
			if window == 7 {
				args = append(args, "-O", "7")
			}
			checkJSON(t, test, window, append([]string{"perftest", addr}, args...))
		})
	}
}

func checkJSON(t *testing.T, test string, window float64, args []string) {
	status, out, errOut := command(t, args...)
	if status != 0 || errOut != "" {
		t.Fatalf("status %d: %s", status, errOut)
	}
	var got map[string]any
	d := json.NewDecoder(strings.NewReader(out))
	if err := d.Decode(&got); err != nil || d.More() {
		t.Fatalf("not one object: %v: %s", err, out)
	}
	for key, want := range map[string]any{
		"test": test, "transport": "tcp", "lanes": 2.0, "error_mode": "none", "mode": "owned", "size": 1024.0, "iterations": 500.0,
		"lost": 0.0, "doubled": 0.0, "corrupt": 0.0, "out_of_order": 0.0, "verified": true, "outstanding": window,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	lat, _ := got["latency_us"].(map[string]any)
	for _, key := range []string{"p50", "p99", "avg", "max"} {
		if v, _ := lat[key].(float64); v <= 0 {
			t.Errorf("latency_us.%s is %v", key, lat[key])
		}
	}
	if over := map[string]float64{"am_bw": 500, "put_bw": 7, "get": 1}[test]; lat["average_over"] != over {
		t.Errorf("latency_us.average_over is %v, want %v", lat["average_over"], over)
	}
	for _, key := range []string{"bandwidth_mb_s", "message_rate"} {
		if v, _ := got[key].(float64); v <= 0 {
			t.Errorf("%s is %v", key, got[key])
		}
	}
}

func TestPerftestPairsJSON(t *testing.T) {
	status, out, errOut := command(t, "perftest", server(t), "-t", "put_bw", "--pair-modes", "--pairs", "200", "--block", "100us", "--null", "--json")
	if status != 0 {
		t.Fatalf("status %d: %s", status, errOut)
	}
	var got struct {
		Pair struct{ Ratio, Low, High float64 }
		Mode string `json:"error_mode"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || got.Pair.Low <= 0 || got.Pair.Low > got.Pair.Ratio || got.Pair.Ratio > got.Pair.High || got.Mode != "none/none" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestPerftestBatch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "batch")
	if err := os.WriteFile(file, []byte("# two\nsmall -t am_lat -n 5\n\nlarge -t put_bw -s 64k -n 7 -O 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	addr, end := serving(t, true) // once: it is the client that is served, with all its tests
	status, out, errOut := command(t, "perftest", addr, "-b", file, "-v", "-f")
	if status != 0 {
		t.Fatalf("status %d: %s", status, errOut)
	}
	select {
	case err := <-end:
		if err != nil {
			t.Errorf("the server ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the server goes on although its client has left")
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "name,test,size,iterations,percentile,") || !strings.HasPrefix(lines[1], "small,am_lat,8,5,50,") || !strings.HasPrefix(lines[2], "large,put_bw,65536,7,50,") ||
		strings.Count(lines[0], ",") != strings.Count(lines[2], ",") {
		t.Errorf("%s", out)
	}
	for text, want := range map[string]string{
		"ok -t am_lat\nbad -t am_lat -n x\n":             ":2:",
		"ok -t am_lat\nbad -t am_\x1b[31mlat\n":          `:2: "bad -t am_\x1b[31mlat" is no line of text`,
		"\x7fELF\x02\x01\x01\x00\xff\xfe \xc3\x28 -t am": `:1: "\x7fELF`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, _, errOut = command(t, "perftest", "nobody", "-b", file); status != shell.BadUsage || !strings.Contains(errOut, want) {
			t.Errorf("status %d: %q", status, errOut)
		}
	}
}

// What can't have several threads can't from a file either.
func TestPerftestBatchThreads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "batch")
	if err := os.WriteFile(file, []byte("a -t am_bw\nb -t stream_bw -s 64k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, errOut := command(t, "perftest", "nobody", "--shared", "-b", file, "-T", "2"); status != shell.BadUsage || !strings.Contains(errOut, ":2: -T with a stream") {
		t.Errorf("status %d: %s", status, errOut)
	}
}

// Several batch files are combined: each line of the first with each of the next, whose options count more. All are drawn.
func TestPerftestBatches(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	tests, sizes, svg := write("tests", "am -t am_bw -n 5\nput -t put_bw -n 7\n"), write("sizes", "small -s 8\nlarge -s 64k -n 3\n"), filepath.Join(dir, "all.svg")
	status, out, errOut := command(t, "perftest", server(t), "-b", tests, "-b", sizes, "-v", "-f", "--svg", svg)
	if status != 0 {
		t.Fatalf("status %d: %s", status, errOut)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, want := range []string{"name,", "am/small,am_bw,8,5,", "am/large,am_bw,65536,3,", "put/small,put_bw,8,7,", "put/large,put_bw,65536,3,"} {
		if len(lines) != 5 || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("want %s in line %d:\n%s", want, i, out)
		}
	}
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "put/large") {
		t.Errorf("%v: %.200s", err, b)
	}
	bad := write("bad", "x -s 8 -D iov\n")
	tags := write("tags", "y -t tag_lat\n")
	if status, _, errOut = command(t, "perftest", "nobody", "-b", tags, "-b", bad); status != shell.BadUsage || !strings.Contains(errOut, "bad:1:") || !strings.Contains(errOut, "measure tag_bw") {
		t.Errorf("status %d: %s", status, errOut)
	}
}

// A row for each number of threads, against the first; as a table, as CSV and as JSON. The plot has a line for each.
func TestG13_Threads(t *testing.T) {
	args := []string{"perftest", "--spawn", "-t", "am_bw", "-n", "300", "-w", "10", "-T", "1,2", "--verify"}
	for form, want := range map[string][]string{
		"--plot": {"THREADS", "│       1 │ 300 ", "│       2 │ 600 ", "2 threads verified: lost 0", "90%"},
		"-v":     {"threads,operations,msg_s", "\n1,300,", "\n2,600,"},
		"--json": {`"threads":1,"iterations":300`, `"threads":2,"iterations":600`},
	} {
		out, errOut, status := built(t, append(slices.Clone(args), form)...)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", form, status, errOut)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: %q is missing in\n%s", form, w, out)
			}
		}
	}
}

// Lists of buffers: of this side, and of both; the output says so.
func TestPerftestLists(t *testing.T) {
	addr := server(t)
	for line, want := range map[string]string{
		"-t am_bw -D iov -s 3,8k,5":         "8200 bytes, tcp, lists of 3 buffers, lanes",
		"-t get -D iov -s 8,8":              "16 bytes, tcp, lists of 2 buffers, lanes",
		"-t tag_bw -D iov,iov -s 3,8k,5":    "lists of 3 buffers on both sides",
		"-t tag_sync_bw -D contig,iov -s 8": "lists of 1 buffers at the server",
	} {
		status, out, errOut := command(t, append([]string{"perftest", addr, "-n", "20", "-w", "3", "-f", "--verify"}, strings.Fields(line)...)...)
		if status != 0 || !strings.Contains(out, want) || !strings.Contains(out, "lost 0, doubled 0, corrupt 0") {
			t.Errorf("%s: status %d: %s\n%s", line, status, out, errOut)
		}
	}
}

// What was measured is not lost when a run is interrupted.
func TestPerftestInterrupted(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(plan, []byte("cut lane=random kind=reset when=whole for=1ms every=10ms count=1000000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"-t put_bw --lanes 2 -n 2000000000 -f --fault " + plan: "verdict: interrupted",
		"-t am_bw --json":       `"interrupted":true`,
		"-t am_bw -f":           "Final:",
		"-t am_bw -O 1 -s 0 -f": "Final:",
		"-t am_lat -f":          "Final:",
		"-t put_lat -f":         "Final:",
		"-t put_bw -f":          "Final:",
		"-t put_bw --verify -n 2000000000 --json": `"interrupted":true`,
		"-t get -O 8 -f": "Final:",
		"-t get -f":      "Final:",
	} {
		addr := server(t)
		for wait := 100 * time.Millisecond; ; wait *= 2 { // until it has come to measure something
			args := append([]string{"perftest", addr, "-n", "1000000000000", "-w", "0"}, strings.Fields(line)...)
			status, text := interrupted(t, wait, args...)
			if status != shell.Interrupted {
				t.Fatalf("%s: status %d:\n%s", line, status, text)
			}
			if strings.Contains(text, want) {
				break
			}
			if wait > 10*time.Second {
				t.Fatalf("%s: want %s:\n%s", line, want, text)
			}
		}
	}
}

// interrupted runs a command line for so long, and returns its status and all it said.
func interrupted(t *testing.T, after time.Duration, args ...string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer time.AfterFunc(after, func() { cancel(shell.ErrInterrupted) }).Stop()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	status := run(shell.World{Ctx: ctx, In: strings.NewReader(""), Out: shell.Output{File: out}, ErrOut: shell.Output{File: out}}, args)
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return status, string(text)
}

// Two processes run on two processors unless somebody says otherwise, and the output says on which.
func TestPerftestSpawnIsBound(t *testing.T) {
	a, b, ok := cpu.Two()
	if !ok {
		t.Skip("this process may use one processor only, or can't know which")
	}
	line := []string{"perftest", "--spawn", "-t", "am_bw", "-n", "100", "-w", "0"}
	for _, c := range []struct{ more, want string }{
		{"", fmt.Sprintf(", cpus %d,%d\n", a, b)},
		{"--json", fmt.Sprintf(`"cpus":"%d,%d"`, a, b)},
		{"--cpus off", "verify false\n"},
	} {
		out, errOut, status := built(t, append(line, strings.Fields(c.more)...)...)
		if status != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%q: status %d, want %q: %s%s", c.more, status, c.want, out, errOut)
		}
	}
}

// Each letter that means something for a get.
func TestPerftestGetLetters(t *testing.T) {
	addr := server(t)
	for line, want := range map[string]string{
		"":                               "| latency (usec)",
		"-O 32":                          "| overhead (usec)",
		"-O 32 -f -v":                    "iterations,50.0_percentile_lat,",
		"-R 99.9 -s 64k":                 "99.9%ile",
		"-N -w 10":                       "1,000",
		"-f --verify -O 3 -s 9":          "verified: lost 0, doubled 0, corrupt 0, out of order 0",
		"-s 0":                           "get, 0 bytes",
		"-s 1m -O 4 -n 20 --lanes 2":     "lanes 2",
		"-E sleep -n 20":                 "owned, sleeping, outstanding 1",
		"--owned --error-mode peer -w 0": "error mode peer, owned, outstanding 1",
	} {
		args := []string{"perftest", addr, "-t", "get", "-n", "1000", "-w", "0"}
		status, out, errOut := command(t, append(args, strings.Fields(line)...)...)
		if flat := strings.Join(strings.Fields(out), " "); status != 0 || errOut != "" || !strings.Contains(flat, want) {
			t.Errorf("%s: status %d, %s%s\nwant %q", line, status, errOut, out, want)
		}
	}
}

// refused runs a command line that can't be.
func refused(t *testing.T, line, want string) {
	t.Helper()
	status, out, errOut := command(t, append([]string{"perftest"}, strings.Fields(line)...)...)
	if status != shell.BadUsage || !strings.Contains(errOut, want) || out != "" {
		t.Errorf("%s: status %d, %q, %q; want %q", line, status, out, errOut, want)
	}
}

// Where the two processes run is two numbers, and no figure stands beside anything else.
func TestPerftestRefusesCPUs(t *testing.T) {
	for line, want := range map[string]string{
		"-t am_lat --cpus 0,1 h":         "with --spawn",
		"-t am_lat --spawn --cpus 0":     "two numbers",
		"-t am_lat --spawn --cpus ,":     "two numbers",
		"-t am_lat --spawn --cpus 0,":    "two numbers",
		"-t am_lat --spawn --cpus 0,1,2": "two numbers",
		"-t am_lat --spawn --cpus 0,x":   "cpu \"x\": a number",
	} {
		refused(t, line, want)
	}
}

// TestPerftestSettingsOfRC: what a refusal says to set is heard, also by a transport that perftest makes itself.
func TestPerftestSettingsOfRC(t *testing.T) {
	for line, want := range map[string]bool{"": true, "--set rc-trust=network": false, "--set rc-trust=secret": true, "--trust-network": false} {
		args := append([]string{"perftest", "192.0.2.99", "--transport", "rc", "-t", "put_lat", "--set", "handshake=50ms"}, strings.Fields(line)...)
		if _, people, _ := built(t, args...); strings.Contains(people, "carry no proof") != want {
			t.Errorf("%s: %s", line, people)
		}
	}
}

// Lists, threads and plots that can't be.
func TestPerftestRefusesShapes(t *testing.T) {
	for line, want := range map[string]string{
		"-t am_lat -D iov h":           "measure am_bw",
		"-t am_bw -Diov,iov h":         "only this side",
		"-t am_bw -D zcopy h":          "no such layout",
		"-t am_bw -D iov -O 2 h":       "no window",
		"-t am_bw -T 0 h":              "1 to 64",
		"-t am_bw -T 1,,2 h":           "no number of threads",
		"-t am_bw -T 2 -c 0 h":         "no place for several threads",
		"-t am_bw -T 2 -R 99 h":        "-R has no effect",
		"-t am_bw -T 2 --pair-modes h": "-T has no effect",
		"-t am_bw --plot --json h":     "--plot has no effect",
		"--plot":                       "--plot has no effect here: a server",
		"-t am_lat -s 8,16 h":          "batch file",
	} {
		refused(t, line, want)
	}
}

func TestPerftestRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"-t am_lat --pair-modes --error-mode peer h":     "--error-mode has no effect here: with --pair-modes",
		"-t am_lat --pair-modes -n 100 h":                "-n has no effect here: with --pair-modes",
		"-t am_lat --pair-modes -w 100 h":                "-w has no effect",
		"-t am_lat --pair-modes -R 99 h":                 "-R has no effect",
		"-t am_lat --pair-modes --set error-mode=none h": "--set error-mode=none has no effect",
		"-t am_lat --pairs 300 h":                        "--pairs has no effect here: it is for --pair-modes",
		"-t am_lat --pairs 400 h":                        "--pairs has no effect", // the default, but said
		"-t am_lat --seed 3 h":                           "--seed has no effect",
		"-t am_lat --block 1ms h":                        "--block has no effect",
		"-O 5":                                           "-O has no effect here: a server does what its client says",
		"--lanes 2":                                      "--lanes has no effect here: a server does",
		"-s 8":                                           "-s has no effect",
		"--error-mode none":                              "--error-mode has no effect",
		"--set lanes=2":                                  "--set lanes=2 has no effect",
		"-t am_lat --set wait=sleep h":                   "--set wait=sleep has no effect",
		"-t am_lat --no-once h":                          "how long a server serves",
		"-t am_lat --spawn -p 5":                         "-p has no effect",
		"-t am_lat -p 5 h:6":                             "names port 6 already",
		"-t am_lat --trust-network h":                    "only with --transport rc",
		"-t am_lat --json -R 99 h":                       "-R has no effect",
		"-t am_lat -v -N h":                              "-N has no effect",
		"-t am_lat -n 0 h":                               "-n 0: must be above 0",
		"-t am_lat -n 4294967296 -w 1 --verify h":        "at most 4294967296",
		"-t am_bw -O 0 h":                                "-O 0: must be above 0",
		"-t am_bw --lanes 0 h":                           "--lanes 0: must be 1 to 16; --set lanes=auto",
		"-t am_lat -s -1 h":                              "-s -1: must be 0 to 1073741824",
		"-t am_lat -n -1 h":                              "-n -1: must be 1 to",
		"-t am_lat --lanes -1 h":                         "--lanes -1: must be 1 to 16",
		"-t am_lat -R -1 h":                              "-R -1: a percentile",
		"-t am_lat -p -1 h":                              "-p -1: a port is",
		"-t am_lat -c 0,1 h":                             "are bound by --cpus 0,1",
		"-t am_lat -l":                                   "-l: not here: both ends of transport/self",
		"-t am_lat --transport self h":                   "within one worker",
		"-t am_lat -E busy h":                            "poll or sleep",
		"-E sleep":                                       "-E has no effect here: a server does",
		"-t am_lat -E sleep --shared h":                  "-E sleep with --shared",
		"-t am_lat -M multi h":                           "--shared is multi",
		"-t am_lat -s 8q h":                              "no number of bytes",
		"-t am_lat -s 17179869184g h":                    "no number of bytes",
		"-t stream_bw h":                                 "which needs workers that move by themselves: --shared",
		"-t stream_bw --shared -O 32 h":                  "there is no window of them",
		"-t get -H 8 h":                                  "a get has no header",
		"-t get -s 0 --verify h":                         "nothing arrives",
		"-t get -O 2 --pair-modes h":                     "at least 32",
		"-t nonsense h":                                  "there are put_lat",
		"h":                                              "which test",
		"-t am_lat":                                      "a server does what its client says",
		"-t am_lat --spawn h":                            "leave one of them out",
		"-t am_lat --set transports=shm h":               "--set transports=shm has no effect here: write --transport",
		"-t am_lat --lanes 17 h":                         "--lanes 17: must be 1 to 16",
		"-t am_lat --error-mode x h":                     "want one of failover, peer, none",
		"-t am_lat --null h":                             "check of --pair-modes",
		"-t am_lat --json -v h":                          "can't be used together",
		"-t am_bw --pair-modes --verify h":               "a run of its own",
		"-t am_bw --pair-modes -O 31 h":                  "at least 32",
		"--json":                                         "prints no results",
		"-t am_lat --owned --shared h":                   "can't be used together",
		"-t am_lat -O 3 h":                               "use am_bw",
		"-t am_lat --listen 0.0.0.0 h":                   "for a server",
		"-t am_lat -n 10 --transport carrier h":          "there are tcp, shm, rc and verbs",
	} {
		refused(t, line, want)
	}
}
