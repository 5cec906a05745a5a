package live

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// terminal is one that knows two control sequences: so many lines up, and clear to the end.
type terminal struct {
	t     *testing.T
	lines []string
	wide  int

	writes int
}

var up = regexp.MustCompile("^\r\x1b\\[([0-9]+)A\x1b\\[J")

var paint = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (x *terminal) Write(b []byte) (int, error) {
	x.writes++
	text := string(b)
	if m := up.FindStringSubmatch(text); m != nil {
		n := 0
		for _, c := range m[1] {
			n = 10*n + int(c-'0')
		}
		if n > len(x.lines) {
			x.t.Fatalf("%d lines up, of %d", n, len(x.lines))
		}
		x.lines, text = x.lines[:len(x.lines)-n], text[len(m[0]):]
	}
	text = paint.ReplaceAllString(text, "")
	if strings.ContainsAny(text, "\x1b\r") {
		x.t.Fatalf("%q", text)
	}
	for _, l := range strings.SplitAfter(text, "\n") {
		if l = strings.TrimSuffix(l, "\n"); l == "" {
			continue
		}
		if n := columns(l); n >= x.wide {
			x.t.Errorf("%d columns in %d: %q", n, x.wide, l)
		}
		x.lines = append(x.lines, l)
	}
	return len(b), nil
}

// columns is how wide a line is. Of those here only Chinese letters take two.
func columns(line string) (n int) {
	for _, r := range line {
		if n++; r >= 0x3000 {
			n++
		}
	}
	return n
}

// TestScreen: what is drawn is taken back, lines stay, and nothing is too wide, in terminals of any size.
func TestScreen(t *testing.T) {
	notes := []string{strings.Repeat("long ", 50), strings.Repeat("長い", 50), "ü" + strings.Repeat("影片", 50)}
	for k, size := range [][2]int{{80, 24}, {200, 60}, {41, 16}, {40, 10}, {20, 3}, {132, 8}, {81, 24}, {100, 24}, {101, 24}, {21, 3}} {
		x := &terminal{t: t, wide: size[0]}
		s := newScreen(x, true, func() (int, int) { return size[0], size[1] })
		s.Line("first")
		for i := range 100 {
			lanes := []Lane{{"10.0.0.1->10.0.0.2", "up", uint64(i * i * 1e6)}}
			if i > 30 {
				lanes = append(lanes, Lane{"fd00:1234:5678:9abc::1->fd00:1234:5678:9abc::2", "down", uint64(i * 3e7)})
			}
			s.Show(Frame{At: time.Duration(i) * 100 * time.Millisecond, Lanes: lanes, Done: uint64(i * 10e6), Total: uint64(i%2) * 2e9, Unit: "arrived", Note: notes[(i+k)%len(notes)]})
			if len(x.lines) > size[1]+i {
				t.Fatalf("%v: %d lines", size, len(x.lines))
			}
			if i == 50 {
				s.Line("event")
			}
		}
		if got := strings.Join(x.lines, "\n"); size[0] >= 80 && (!strings.Contains(got, "10.0.0.1->10.0.0.2") || !strings.Contains(got, "990.0 MB of 2.0 GB")) || size[1] >= 16 && !strings.Contains(got, "┤") {
			t.Errorf("%v:\n%s", size, got)
		}
		s.Close()
		if got := strings.Join(x.lines, "|"); got != "first|event" {
			t.Errorf("%v: what is left: %q", size, got)
		}
	}
}

// TestRates: what is shown is what was carried.
func TestRates(t *testing.T) {
	x := &terminal{t: t, wide: 100}
	s := newScreen(x, false, func() (int, int) { return 100, 10 })
	for i := range 50 {
		s.Show(Frame{At: time.Duration(i) * 100 * time.Millisecond, Lanes: []Lane{{"a", "up", uint64(i) * 5e6}}, Done: uint64(i) * 200e6, Total: 20e9})
	}
	if got := strings.Join(x.lines, "\n"); !strings.Contains(got, "50 MB/s") || !strings.Contains(got, "2.00 GB/s") || !strings.Contains(got, "0:05 left") {
		t.Error(got)
	}
}

func TestTexts(t *testing.T) {
	for got, want := range map[string]string{
		Size(0): "0 B", Size(999): "999 B", Size(999_960): "1.0 MB", Size(12_345_678): "12.3 MB", Size(1 << 60): "1152921.5 TB",
		Rate(12): "12 MB/s", Rate(1234): "1.23 GB/s", Left(60e6, 1): "1:00", Left(7200e6, 1): "2:00:00", Left(5, 0): "", Left(1<<60, 1): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCut: what fits stays as it is, and what doesn't fills the room that there is.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"film", 4, "film"}, {"film", 3, "fi…"}, {"影片", 4, "影片"}, {"影片", 3, "影…"}, {"影片", 2, "…"}, {"e\u0301te\u0301", 3, "e\u0301te\u0301"}, {"", 0, ""},
	} {
		if got := cut(c.text, c.columns); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// TestManyLanes: as many are shown as there is room for, and always how far it is.
func TestManyLanes(t *testing.T) {
	for rows := 2; rows <= 20; rows++ {
		x := &terminal{t: t, wide: 80}
		s := newScreen(x, false, func() (int, int) { return 80, rows })
		f := Frame{Unit: "arrived"}
		for i := range 30 {
			f.Lanes = append(f.Lanes, Lane{Name: "lane " + strings.Repeat("i", i), State: "up"})
		}
		s.Show(f)
		if n := len(x.lines); n >= rows || n < rows-2 || !strings.Contains(x.lines[n-1], "arrived") {
			t.Errorf("%d rows: %q", rows, x.lines)
		}
	}
}

// TestRedraw: who shows very often has it drawn now and then; what he shows last is what comes back behind a line.
func TestRedraw(t *testing.T) {
	x := &terminal{t: t, wide: 80}
	s := newScreen(x, false, func() (int, int) { return 80, 10 })
	for i := range 100 {
		s.Show(Frame{At: time.Duration(i) * time.Millisecond, Done: uint64(i), Unit: "arrived"})
	}
	if x.writes > 3 || !strings.Contains(x.lines[0], "80 B arrived") {
		t.Errorf("drawn %d times in a tenth of a second: %q", x.writes, x.lines)
	}
	if s.Line("event"); !strings.Contains(strings.Join(x.lines, "|"), "event| 99 B arrived") {
		t.Errorf("%q", x.lines)
	}
}

// TestNoTerminal: then there is no screen.
func TestNoTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	t.Setenv("TERM", "xterm")
	if New(f) != nil {
		t.Error("a file is taken for a terminal")
	}
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("needs /dev/ptmx: ", err)
	}
	defer tty.Close()
	for term, draws := range map[string]bool{"xterm": true, "dumb": false, "": false} {
		if t.Setenv("TERM", term); (New(tty) != nil) != draws {
			t.Errorf("TERM=%s: it draws: %v", term, !draws)
		}
	}
}
