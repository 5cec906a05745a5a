package fault_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid/fault"
	"pgregory.net/rapid"
)

func TestRuleText(t *testing.T) {
	for text, want := range map[string]fault.Rule{
		"cut rail=127.0.0.1 kind=reset for=500ms": {Rail: "127.0.0.1", Kind: fault.Reset, For: 500 * time.Millisecond},
		"cut rail=fd00::1 kind=silence":           {Rail: "fd00::1", Kind: fault.Silence},
		"cut rail=10.0.0.1 kind=silence side=remote when=write for=2s": {
			Rail: "10.0.0.1", Kind: fault.Silence, Side: fault.Remote, AtWrite: true, For: 2 * time.Second},
		"cut rail=10.0.0.1 kind=reset side=either": {Rail: "10.0.0.1", Side: fault.Either},
	} {
		got, err := fault.Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", text, got, err, want)
		}
		if s := got.String(); s != text {
			t.Errorf("String() = %q, want %q", s, text)
		}
	}
	a, _ := fault.Parse("cut  for=1s kind=reset   rail=1.2.3.4 when=now side=local")
	if a.String() != "cut rail=1.2.3.4 kind=reset for=1s" {
		t.Errorf("in another order: %v", a)
	}
}

func TestRuleErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "cut rail=",
		"snip rail=1.2.3.4 kind=reset":           "cut rail=",
		"cut kind=reset":                         "rail=",
		"cut rail=1.2.3.4":                       "kind=",
		"cut rail=eth0 kind=reset":               "without a port",
		"cut rail=1.2.3.4:7 kind=reset":          "without a port",
		"cut rail=1.2.3.4 kind=scissors":         "kind=reset|silence",
		"cut rail=1.2.3.4 kind=reset side=left":  "side=local|remote|either",
		"cut rail=1.2.3.4 kind=reset for=soon":   "for=DURATION",
		"cut rail=1.2.3.4 kind=reset for=-1s":    "for=DURATION",
		"cut rail=1.2.3.4 kind=reset when=never": "when=now|write",
		"cut rail=1.2.3.4 kind=reset color=red":  "rail=, kind=",
		"cut rail=1.2.3.4 kind=reset kind=reset": "once",
	} {
		_, err := fault.Parse(text)
		var pe *fault.ParseError
		if !errors.As(err, &pe) || !strings.Contains(pe.Want, want) {
			t.Errorf("Parse(%q): %v, want an error that says %q", text, err, want)
		}
	}
}

func TestRuleRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := fault.Rule{
			Rail:    rapid.SampledFrom([]string{"127.0.0.1", "10.1.2.3", "::1", "fe80::1%eth0"}).Draw(t, "rail"),
			Side:    rapid.SampledFrom([]fault.Side{fault.Local, fault.Remote, fault.Either}).Draw(t, "side"),
			Kind:    rapid.SampledFrom([]fault.Kind{fault.Reset, fault.Silence}).Draw(t, "kind"),
			For:     time.Duration(rapid.Int64Min(0).Draw(t, "for")),
			AtWrite: rapid.Bool().Draw(t, "when"),
		}
		if got, err := fault.Parse(r.String()); err != nil || got != r {
			t.Fatalf("Parse(%q) = %+v, %v, want %+v", r, got, err, r)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("cut rail=127.0.0.1 kind=reset for=500ms")
	f.Add("cut rail=fe80::1%eth0 kind=silence side=either when=write")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := fault.Parse(text)
		if err != nil {
			return
		}
		if again, err := fault.Parse(r.String()); err != nil || again != r {
			t.Errorf("Parse(%q) is %+v, printed and parsed again %+v, %v", text, r, again, err)
		}
	})
}
