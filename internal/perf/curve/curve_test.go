package curve_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/internal/perf/curve"
	"github.com/openbraid/braid/internal/perf/meter"
)

// some are two tests: one with a tail, one of few operations.
func some() []curve.Series {
	return []curve.Series{
		{Name: "am_lat 8", Ops: 100_000, Points: []meter.Point{{Rank: 0, Micros: 4}, {Rank: 50, Micros: 4.5}, {Rank: 90, Micros: 5}, {Rank: 99, Micros: 9}, {Rank: 99.9, Micros: 60}, {Rank: 99.99, Micros: 900}, {Rank: 100, Micros: 4000}}},
		{Name: "put_lat 8", Ops: 100, Points: []meter.Point{{Rank: 0, Micros: 3}, {Rank: 50, Micros: 3.2}, {Rank: 90, Micros: 20}, {Rank: 100, Micros: 30}}},
	}
}

// TestText: what stands in a terminal, for one test and for two.
func TestText(t *testing.T) {
	for name, list := range map[string][]curve.Series{"one": some()[:1], "two": some()} {
		var out bytes.Buffer
		if err := curve.Text(&out, list, 76, false); err != nil {
			t.Fatal(err)
		}
		for i, l := range strings.Split(out.String(), "\n") {
			if n := len([]rune(l)); n > 78 {
				t.Errorf("%s: line %d has %d columns", name, i, n)
			}
		}
		golden.Same(t, filepath.Join("testdata", name+".txt"), out.String())
	}
	var out bytes.Buffer
	if err := curve.Text(&out, some(), 76, true); err != nil || !strings.Contains(out.String(), "\x1b[") || !strings.Contains(out.String(), "put_lat") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestSVG: a picture that any viewer opens, with the names of all, the same each time.
func TestSVG(t *testing.T) {
	var twice [2]bytes.Buffer
	for i := range twice {
		if err := curve.SVG(&twice[i], "tcp & co", some()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(twice[0].Bytes(), twice[1].Bytes()) {
		t.Error("two pictures of the same differ")
	}
	text, paths := "", 0
	d := xml.NewDecoder(&twice[0])
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := tok.(type) {
		case xml.CharData:
			text += string(x) + "\n"
		case xml.StartElement:
			if x.Name.Local == "path" {
				paths++
			}
		}
	}
	for _, want := range []string{"tcp & co", "am_lat 8", "put_lat 8", "99.9%", "1 ms", "10 us"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	if paths < 2 {
		t.Errorf("%d lines", paths)
	}
}

// TestOneWithout: a test that came to no times, as one that failed, is no reason not to draw the others.
func TestOneWithout(t *testing.T) {
	list := append([]curve.Series{{Name: "failed"}, {Name: "none", Ops: 1, Points: []meter.Point{{Rank: 0}, {Rank: 100}}}}, some()...)
	var svg, text bytes.Buffer
	if err := errors.Join(curve.SVG(&svg, "", list), curve.Text(&text, list, 76, false)); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{svg.String(), text.String()} {
		if !strings.Contains(out, "am_lat 8") || !strings.Contains(out, "put_lat 8") {
			t.Errorf("not all are drawn:\n%s", out)
		}
	}
}

// TestNothing: what has no times is no curve.
func TestNothing(t *testing.T) {
	for _, list := range [][]curve.Series{nil, {{Name: "x"}}, {{Name: "x", Ops: 1, Points: []meter.Point{{Rank: 0}, {Rank: 100}}}}} {
		if err := curve.Text(os.Stdout, list, 80, false); !errors.Is(err, curve.ErrNothing) {
			t.Errorf("%v: %v", list, err)
		}
		if err := curve.SVG(io.Discard, "", list); !errors.Is(err, curve.ErrNothing) {
			t.Errorf("%v: %v", list, err)
		}
	}
}
