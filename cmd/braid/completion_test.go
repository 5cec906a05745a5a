package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/cmd/braid/completion"
)

// completed are the words that `braid __complete` offers.
func completed(t *testing.T, words ...string) (list []string) {
	t.Helper()
	status, out, errs := command(t, append([]string{completion.Word}, words...)...)
	if status != 0 || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	for line := range strings.Lines(out) {
		word, _, ok := strings.Cut(line, "\t")
		if !ok {
			t.Errorf("%q is no line of candidates", line)
		}
		list = append(list, word)
	}
	return list
}

func TestComplete(t *testing.T) {
	for _, c := range []struct{ line, has, hasNot string }{ // words with blanks between; the last is the one to complete
		{"", "demo perftest info completion man secret", "--json __complete"}, {"inf", "info", "demo"}, {"-", "--version --help", ""},
		{"info ", "config build rails", "demo tcp"}, {"info config ", "keepalive window", "config"}, {"info config window ke", "keepalive", "window"},
		{"info --", "--json --set --config", "--spawn"}, {"info --set ", "keepalive= lanes=", "keepalive secret="}, {"info --set error-mode=", "error-mode=none", "lanes="},
		{"info --set=wait=s", "--set=wait=sleep", "--set=wait=poll"}, {"info --set rails=l", "rails=lo", "rails=tcp"}, {"info --rails l", "lo", "tcp"}, {"perftest --rails=x,l", "--rails=x,lo", ""}, {"info --set rails=x,l", "rails=x,lo", "lo"}, {"info --set=ke", "--set=keepalive=", ""}, {"info --config ", ":files", "config"}, {"info --config=", ":files", ""},
		{"completion ", "bash zsh fish", ""}, {"completion bash ", "", "bash"}, {"perftest -t ", "put_lat am_bw", ""}, {"perftest --test=p", "--test=put_lat", "am_lat"},
		{"perftest --no-", "--no-once", "--once"}, {"perftest --error-mode ", "failover none", ""}, {"perftest -s 8 --j", "--json", ""}, {"perftest --json --", "--csv", "--guard"},
		{"demo ", ":files", ""}, {"demo --", "--seconds", "--role"}, {"demo -- --", "", "--seconds"}, {"nothing ", "", ""},
	} {
		got := completed(t, strings.Split(c.line, " ")...)
		for _, want := range strings.Fields(c.has) {
			if !slices.Contains(got, want) {
				t.Errorf("%q: %q lacks %s", c.line, got, want)
			}
		}
		for _, not := range strings.Fields(c.hasNot) {
			if slices.Contains(got, not) {
				t.Errorf("%q: %q has %s", c.line, got, not)
			}
		}
	}
}

// shells are scripts that print what the completion of a line offers, one a line.
var shells = map[string]string{
	"bash": `
complete() { :; }; compopt() { :; }
eval "$(braid completion bash)"
COMP_LINE=$LINE COMP_POINT=${#LINE}
IFS=' ' read -ra COMP_WORDS <<<"${LINE//=/ = }"
[[ $LINE == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_braid
printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh": `
compdef() { :; }; compset() { :; }; _files() { print -l *(N); }
compadd() { print -l -- "${@[$#]}"; }
_describe() { print -l -- "${(@P)2%%:*}"; }
eval "$(braid completion zsh)"
words=("${(@s: :)LINE}"); CURRENT=$#words
_braid`,
	"fish": `
braid completion fish | source
complete -C "$LINE" | string split -f1 \t; true`,
}

// TestShells: the scripts, run by their shells, offer what braid does; bash cuts words at "=".
func TestShells(t *testing.T) {
	here := t.TempDir()
	if err := os.WriteFile(filepath.Join(here, "film.mp4"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for shell, script := range shells {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				skip(t, "needs %s: %v", shell, err)
			}
			for _, c := range []struct{ line, want, cut string }{ // cut: what bash wants behind the =
				{"braid inf", "info", ""}, {"braid info config keepa", "keepalive", ""}, {"braid info --set keepa", "keepalive=", ""},
				{"braid info --set wait=sl", "wait=sleep", "sleep"}, {"braid info --set=wait=sl", "--set=wait=sleep", "sleep"}, {"braid demo fil", "film.mp4", ""},
				{"braid completion z", "zsh", ""}, {"braid perftest --sp", "--spawn", ""},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, shell, "-c", script)
				cmd.Dir = here
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(self)+":"+os.Getenv("PATH"), "LINE="+c.line, "HOME="+here)
				out, err := cmd.CombinedOutput()
				if shell == "bash" && c.cut != "" {
					c.want = c.cut
				}
				if err != nil || !slices.Contains(strings.Fields(string(out)), c.want) {
					t.Errorf("%q: %v: %s, want %s", c.line, err, out, c.want)
				}
			}
		})
	}
}

// skip skips a test with the reason, or fails it where it must run.
func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("BRAID_NO_SKIP") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// TestMan: the page has each command, flag and setting, and a formatter of such pages finds nothing to complain about.
func TestMan(t *testing.T) {
	status, page, errs := command(t, "man")
	if status != 0 || errs != "" {
		t.Fatalf("status %d: %s", status, errs)
	}
	for _, want := range []string{`\-\-set=KEY=VALUE`, "braid perftest [HOST] [flags]", "lost\\-after, $BRAID_LOST_AFTER", ".SH EXIT STATUS", "braid info config keepalive lost\\-after"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		skip(t, "needs groff: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "groff", "-man", "-Tutf8", "-ww", "-z")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v: %s", err, out)
	}
}

// TestHelpHasExamples: each command's help shows how it is used, and is found by braid help COMMAND.
func TestHelpHasExamples(t *testing.T) {
	for _, name := range completed(t, "") {
		status, out, _ := command(t, "help", name)
		if status != 0 || !strings.Contains(out, "Examples:") || !strings.Contains(out, "braid "+name) {
			t.Errorf("braid help %s: status %d: %s", name, status, out)
		}
	}
}
