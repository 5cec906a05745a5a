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
	ms := time.Millisecond
	for text, want := range map[string]fault.Rule{
		"cut rail=127.0.0.1 kind=reset for=500ms": {Rail: "127.0.0.1", For: 500 * ms},
		"cut kind=reset": {},
		"cut rail=10.0.0.1 kind=silence side=remote when=write for=2s": {
			Rail: "10.0.0.1", Kind: fault.Silence, Side: fault.Remote, Start: fault.Write, For: 2 * time.Second},
		"cut lane=1 kind=reset after=1s for=500ms every=2s count=100": {
			Lane: "1", After: time.Second, For: 500 * ms, Every: 2 * time.Second, Count: 100},
		"cut lane=random kind=silence dir=tx when=whole for=5ms every=50ms±20ms": {
			Lane: fault.Random, Kind: fault.Silence, Dir: fault.Tx, Start: fault.Whole, For: 5 * ms, Every: 50 * ms, Spread: 20 * ms},
		"drop 1% on=rc dir=tx":         {Action: fault.Drop, Percent: 1, On: "rc", Dir: fault.Tx},
		"duplicate 0.5%":               {Action: fault.Duplicate, Percent: 0.5},
		"corrupt 100% lane=eth0":       {Action: fault.Corrupt, Percent: 100, Lane: "eth0"},
		"delay 5ms±2ms":                {Action: fault.Delay, Delay: 5 * ms, Jitter: 2 * ms},
		"rate 1Gbit":                   {Action: fault.Throttle, Rate: 1e9},
		"rate 1500kbit dir=rx":         {Action: fault.Throttle, Rate: 1500e3, Dir: fault.Rx},
		"pause lane=0 for=30ms":        {Action: fault.Pause, Lane: "0", For: 30 * ms},
		"kill peer after=1s":           {Action: fault.Kill, After: time.Second},
		"kill peer signal=stop for=2s": {Action: fault.Kill, Stop: true, For: 2 * time.Second},
		"iface veth0 down for=1m0s":    {Action: fault.Iface, Device: "veth0", For: time.Minute},
	} {
		got, err := fault.Parse(text)
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", text, got, err, want)
		}
		if s := got.String(); s != text {
			t.Errorf("String() = %q, want %q", s, text)
		}
	}
	for text, want := range map[string]string{
		"cut  for=1s kind=reset   rail=1.2.3.4 when=now side=local": "cut rail=1.2.3.4 kind=reset for=1s",
		"delay 5ms+-2ms dir=both":                                   "delay 5ms±2ms",
		"rate 1000Mbit":                                             "rate 1Gbit",
		"pause lane=007":                                            "pause lane=7",
	} {
		if got, err := fault.Parse(text); err != nil || got.String() != want {
			t.Errorf("Parse(%q) is %v, %v, want %q", text, got, err, want)
		}
	}
}

// TestRuleErrors: each mistake is found where it stands, and what would be right is said.
func TestRuleErrors(t *testing.T) {
	for text, want := range map[string]struct {
		column int
		want   string
	}{
		"":                                       {1, "cut, drop"},
		"  snip kind=reset":                      {3, "cut, drop"},
		"cut rail=1.2.3.4":                       {17, "kind=reset"},
		"cut rail=eth0 kind=reset":               {5, "without a port"},
		"cut rail=1.2.3.4:7 kind=reset":          {5, "without a port"},
		"cut rail=1.2.3.4 kind=scissors":         {18, "kind=reset or silence"},
		"cut rail=1.2.3.4 kind=reset side=left":  {29, "local, remote or either"},
		"cut kind=reset for=soon":                {16, "for=TIME"},
		"cut kind=reset for=-1s":                 {16, "for=TIME"},
		"cut kind=reset when=never":              {16, "when=now, write or whole"},
		"cut kind=reset color=red":               {16, "lane=, rail="},
		"cut kind=reset kind=reset":              {16, "kind= once"},
		"cut kind=reset dir=tx":                  {16, "kind=silence"},
		"cut kind=reset side=remote":             {16, "rail="},
		"cut kind=reset every=2s":                {16, "for="},
		"cut kind=reset every=2s for=2s":         {25, "shorter"},
		"cut kind=reset every=2s±2s for=1s":      {16, "smaller"},
		"cut kind=reset for=1s count=2":          {23, "every="},
		"cut kind=reset count=0 every=2s for=1s": {16, "count="},
		"drop":                                   {5, "a share"},
		"drop 0%":                                {6, "a share"},
		"drop 101%":                              {6, "a share"},
		"drop 1% on=tcp":                         {9, "TCP repairs"},
		"delay 5ms on=shm":                       {11, "memory is never late"},
		"cut kind=reset when=write on=rc":        {27, "no writes that could be cut"},
		"drop 1% on=shm":                         {9, "memory loses nothing"},
		"rate 8Mbit on=verbs":                    {12, "an adapter sends and receives packets by itself"},
		"drop 1% kind=reset":                     {9, "lane="},
		"delay soon":                             {7, "a time"},
		"delay 1ms±2ms":                          {7, "a time"},
		"rate fast":                              {6, "a rate"},
		"rate 0bit":                              {6, "a rate"},
		"corrupt 1% dir=tx":                      {12, "dir=rx"},
		"kill me":                                {6, "peer"},
		"kill peer for=1s":                       {11, "signal=stop"},
		"iface":                                  {6, "the name"},
		"iface eth0 up":                          {12, "down"},
		"iface eth0 down lane=1":                 {17, "after="},
		"pause when=write":                       {7, "in the middle of a write"},
		"cut kind=reset; drop 1%":                {15, "one rule"},
		"delay 5ms±2ms lane=anameofmorethan15 for=1ms": {15, "lane="},
	} {
		_, err := fault.Parse(text)
		var pe *fault.ParseError
		if !errors.As(err, &pe) || !strings.Contains(pe.Want, want.want) || pe.Column != want.column || pe.Line != 1 {
			t.Errorf("Parse(%q): %v, want column %d and %q", text, err, want.column, want.want)
		}
	}
}

func TestPlanText(t *testing.T) {
	p, err := fault.ParsePlan("# two lanes\ncut lane=0 kind=reset for=1s ; pause lane=1  # and one more\n\n\tdrop 1%\n")
	if want := "cut lane=0 kind=reset for=1s\npause lane=1\ndrop 1%\n"; err != nil || p.String() != want {
		t.Errorf("%q, %v, want %q", p, err, want)
	}
	var pe *fault.ParseError
	if _, err := fault.ParsePlan("pause\ndelay 5ms±2ms; pause; cut lane=1 kind=sharp"); !errors.As(err, &pe) || pe.Line != 2 || pe.Column != 34 || pe.Word != "kind=sharp" {
		t.Errorf("%v, want line 2, column 34", err)
	}
	if _, err := fault.ParsePlan(" # nothing\n;;"); !errors.As(err, &pe) {
		t.Errorf("a plan without rules: %v", err)
	}
}

// carriers are those that a rule may be meant for.
func carriers(r fault.Rule) []string {
	switch {
	case r.Start == fault.Write:
		return []string{"", "tcp"}
	case r.Action == fault.Drop || r.Action == fault.Duplicate || r.Action == fault.Corrupt:
		return []string{"", "rc"}
	case r.Action == fault.Delay:
		return []string{"", "tcp", "rc"}
	}
	return []string{"", "tcp", "rc", "shm"}
}

// anyRule draws a rule that can be.
func anyRule(t *rapid.T) fault.Rule {
	span := func(name string, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(1, int64(most)).Draw(t, name))
	}
	maybe := func(name string) bool { return rapid.Bool().Draw(t, name) }
	r := fault.Rule{Action: fault.Action(rapid.IntRange(int(fault.Cut), int(fault.Iface)).Draw(t, "action"))}
	switch r.Action {
	case fault.Cut:
		r.Kind = fault.Kind(rapid.IntRange(0, 1).Draw(t, "kind"))
	case fault.Drop, fault.Duplicate, fault.Corrupt:
		r.Percent = rapid.Float64Range(1e-9, 100).Draw(t, "percent")
	case fault.Delay:
		r.Delay = span("delay", time.Hour)
		if maybe("jitter") {
			r.Jitter = span("by", r.Delay)
		}
	case fault.Throttle:
		r.Rate = rapid.Int64Range(1, 1e12).Draw(t, "rate")
	case fault.Kill:
		r.Stop = maybe("stop")
	case fault.Iface:
		r.Device = rapid.StringMatching(`[a-zé0-9.@_-]{1,7}`).Draw(t, "device")
	case fault.Pause:
	}
	if !r.Action.Outside() {
		r.Lane = rapid.SampledFrom([]string{"", "0", "17", "eth0", fault.Random}).Draw(t, "lane")
		r.Start = rapid.SampledFrom([]fault.Start{fault.Now, fault.Whole}).Draw(t, "start")
		if r.Action == fault.Cut && maybe("write") {
			r.Start = fault.Write
		}
		if r.Rail = rapid.SampledFrom([]string{"", "127.0.0.1", "::1", "fe80::1%eth0"}).Draw(t, "rail"); r.Rail != "" {
			r.Side = fault.Side(rapid.IntRange(0, 2).Draw(t, "side"))
		}
		if r.Action != fault.Cut || r.Kind == fault.Silence {
			r.Dir = fault.Dir(rapid.IntRange(0, 2).Draw(t, "dir"))
		}
		if r.Action == fault.Corrupt && r.Dir == fault.Tx {
			r.Dir = fault.Rx
		}
		r.On = rapid.SampledFrom(carriers(r)).Draw(t, "on")
	}
	if maybe("after") {
		r.After = span("time", time.Hour)
	}
	once := r.Action == fault.Kill && !r.Stop
	if !once && maybe("for") {
		r.For = span("long", time.Hour)
	}
	if (r.For > 0 || once) && maybe("every") {
		r.Every = r.For + 2 + span("period", time.Hour)
		if maybe("spread") {
			r.Spread = span("vary", r.Every-r.For-1)
		}
		r.Count = rapid.IntRange(0, 1e6).Draw(t, "count")
	}
	return r
}

func TestRuleRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := anyRule(t)
		if got, err := fault.Parse(r.String()); err != nil || got != r {
			t.Fatalf("Parse(%q) = %+v, %v, want %+v", r, got, err, r)
		}
		p := fault.Plan{r, anyRule(t)}
		if got, err := fault.ParsePlan(p.String()); err != nil || got.String() != p.String() || len(got) != len(p) {
			t.Fatalf("ParsePlan(%q) = %q, %v", p, got, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("cut rail=127.0.0.1 kind=reset for=500ms")
	f.Add("cut rail=fe80::1%eth0 kind=silence side=either when=write")
	f.Add("cut lane=random kind=silence dir=tx after=1s for=5ms every=50ms±20ms count=100; rate 1Gbit")
	f.Add("drop 0.5% on=rc\n delay 5ms+-2ms # slow\nkill peer signal=stop for=1s;iface eth0 down;pause;corrupt 1e-3%")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := fault.Parse(text); err == nil {
			if again, err := fault.Parse(r.String()); err != nil || again != r {
				t.Errorf("Parse(%q) is %+v, printed %q and parsed again %+v, %v", text, r, r, again, err)
			}
		}
		if p, err := fault.ParsePlan(text); err == nil {
			if again, err := fault.ParsePlan(p.String()); err != nil || again.String() != p.String() {
				t.Errorf("ParsePlan(%q) is %q, printed and parsed again %q, %v", text, p, again, err)
			}
		}
	})
}

// TestFits: what can't be done to anything that there is is refused, with why and what to use instead, and never just without effect.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		rule, kinds string
		want        string // "": it fits
	}{
		{"delay 5ms", "shm", "memory is never late; use rate or pause"},
		{"delay 5ms", "shm tcp", ""},
		{"delay 5ms", "", ""},
		{"drop 1%", "tcp shm", "use delay, rate or pause"},
		{"drop 1%", "rc", ""},
		{"cut kind=reset when=write", "shm", ""},
		{"cut kind=reset when=write", "rc", "use when=now or when=whole"},
		{"pause on=tcp", "rc shm", "on=tcp"},
		{"drop 1%", "verbs", "use cut, pause or iface"},
		{"delay 5ms", "verbs", "packets by itself"},
		{"cut kind=silence when=write", "verbs", "when=whole"},
		{"pause dir=tx", "verbs", ""},
		{"kill peer", "shm", ""},
	} {
		r, err := fault.Parse(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		err = r.Fits(strings.Fields(c.kinds)...)
		var unfit *fault.UnfitError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &unfit) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.rule)) {
			t.Errorf("%s over %q: %v, want %q", c.rule, c.kinds, err, c.want)
		}
	}
}

// TestEnds: what ends by itself is over at some time, and what does not is waited for by nobody.
func TestEnds(t *testing.T) {
	for text, ends := range map[string]bool{
		"pause": false, "delay 5ms lane=1": false, "cut kind=reset for=1s every=2s": false,
		"pause for=1s": true, "cut kind=reset for=1s every=2s count=3": true, "kill peer": true, "kill peer signal=stop for=1s": true,
		"kill peer signal=stop": false,
	} {
		r, err := fault.Parse(text)
		if err != nil || r.Ends() != ends {
			t.Errorf("%s: ends %v, %v", text, r.Ends(), err)
		}
	}
	now := time.Duration(1)
	inj := fault.New(func() time.Duration { return now })
	p, err := fault.ParsePlan("delay 5ms; pause for=1s")
	if err != nil {
		t.Fatal(err)
	}
	inj.Apply(p...)
	if inj.Spent() {
		t.Error("a pause of 1 s is over at once")
	}
	if now += 2 * time.Second; !inj.Spent() || inj.Over() {
		t.Errorf("spent %v, over %v: of a delay and a pause the delay is left", inj.Spent(), inj.Over())
	}
}
