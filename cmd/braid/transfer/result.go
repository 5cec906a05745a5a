package transfer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/files"
	"github.com/openbraid/braid/internal/live"
)

// done is the one line that says it all.
func done(what string, s *files.Summary) string {
	sec := max(s.Time.Seconds(), 0.001)
	text := fmt.Sprintf("%s %s, %s in %.1f s (%s), each piece compared by SHA-256", what, counts(s), live.Size(s.Bytes), sec, live.Rate(float64(s.Bytes)/sec/1e6))
	if s.LanesLost == 1 {
		text += "; a lane was lost once"
	} else if s.LanesLost > 0 {
		text += fmt.Sprintf("; lanes were lost %d times", s.LanesLost)
	}
	return text
}

func counts(s *files.Summary) string {
	text := plural(s.Files, "file", "files")
	if s.Dirs > 0 {
		text += " in " + plural(s.Dirs, "directory", "directories")
	}
	return text
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// Result is a transfer for programs.
type Result struct {
	OK       bool     `json:"ok"`
	Error    string   `json:"error,omitempty"`
	Unknown  bool     `json:"outcome_unknown,omitempty"` // of a failure: everything was sent, and may stand there nevertheless
	Peer     string   `json:"peer,omitempty"`
	Names    []string `json:"names,omitempty"`
	Files    int      `json:"files"`
	Dirs     int      `json:"directories"`
	Bytes    uint64   `json:"bytes"`
	Seconds  float64  `json:"seconds"`
	Lost     int      `json:"lanes_lost"`
	Lanes    []Lane   `json:"lanes,omitempty"`
	Skipped  []string `json:"skipped,omitempty"`
	Changed  []string `json:"changed,omitempty"`
	Verified bool     `json:"sha256_compared"`
}

type Lane struct {
	Name  string `json:"name"`
	Bytes uint64 `json:"bytes"`
}

func sendJSON(s *files.Summary) Result {
	t := Result{OK: true, Files: s.Files, Dirs: s.Dirs, Bytes: s.Bytes, Seconds: float64(s.Time.Milliseconds()) / 1000, Lost: s.LanesLost, Changed: s.Changed, Verified: true}
	for _, l := range s.Lanes {
		t.Lanes = append(t.Lanes, Lane{l.Name, l.Bytes})
	}
	for _, x := range s.Skipped {
		t.Skipped = append(t.Skipped, x.Path)
	}
	return t
}

// failed is a transfer that ended with an error: in the words that people read.
func failed(err error) Result {
	return Result{Error: shell.Bare(notSent(err)), Unknown: errors.As(err, new(*files.UnsureError))}
}

// arrived says it of one name, or of several.
func arrived(names []string) string {
	if len(names) == 1 {
		return named(names) + " has arrived:"
	}
	return named(names) + " have arrived:"
}

// showNames is how many names of a transfer are shown.
const showNames = 3

func named(names []string) string {
	if len(names) > showNames {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:showNames], ", "), len(names)-showNames)
	}
	return strings.Join(names, ", ")
}

func recvJSON(r files.Report) Result {
	t := Result{OK: r.Err == nil, Peer: r.Peer, Names: r.Names, Files: r.Files, Dirs: r.Dirs, Bytes: r.Bytes, Seconds: float64(r.Time.Milliseconds()) / 1000, Verified: r.Err == nil}
	if r.Err != nil {
		t.Error = shell.Bare(r.Err)
	}
	return t
}
