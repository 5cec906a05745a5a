package verdict_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/openbraid/braid/internal/golden"
	"github.com/openbraid/braid/internal/verdict"
)

// TestNames: what programs read is called as it always was: events and verdicts, the fields of a line of --events, and those of --json.
func TestNames(t *testing.T) {
	var b strings.Builder
	fmt.Fprintln(&b, "events")
	for _, k := range verdict.Kinds {
		fmt.Fprintln(&b, "  "+k)
	}
	fmt.Fprintln(&b, "verdicts")
	for _, v := range verdict.Verdicts {
		fmt.Fprintln(&b, "  "+v)
	}
	fmt.Fprintln(&b, "a line of --events")
	fields(&b, reflect.TypeFor[verdict.Event](), "  ")
	fmt.Fprintln(&b, "the report of --json")
	fields(&b, reflect.TypeFor[verdict.Report](), "  ")
	golden.Same(t, "testdata/names.txt", b.String())
}

// fields are those of a struct as JSON has them, each with what it is.
func fields(b *strings.Builder, of reflect.Type, margin string) {
	for _, f := range reflect.VisibleFields(of) {
		name, how, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if how != "" {
			how = ", " + how
		}
		kind, list := f.Type, ""
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
			if kind.Kind() == reflect.Slice {
				list = "list of "
			}
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Struct {
			fmt.Fprintf(b, "%s%s: %sobject%s\n", margin, name, list, how)
			fields(b, kind, margin+"  ")
			continue
		}
		fmt.Fprintf(b, "%s%s: %s%v%s\n", margin, name, list, kind.Kind(), how)
	}
}

// TestNamesAreDocumented: the page has every event, every verdict, and every field of a line of --events.
func TestNamesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/fault.md")
	if err != nil {
		t.Fatal(err)
	}
	names := append(verdict.Verdicts[:], verdict.Kinds[:]...)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[verdict.Event]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/fault.md does not name `%s`", name)
		}
	}
}
