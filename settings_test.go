package braid_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/internal/config"
)

// settingsFile is a file of settings, for BRAID_CONFIG too.
func settingsFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "braid.conf")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func setting(t *testing.T, list []braid.Setting, name string) braid.Setting {
	t.Helper()
	for _, s := range list {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no setting %s", name)
	return braid.Setting{}
}

// TestD10_WhereFrom: each value of a node says where it was said, through all layers.
func TestD10_WhereFrom(t *testing.T) {
	name := settingsFile(t, "# two of three\nkeepalive = 2s\nclose = 3s\n\nlost-after = 1s\n")
	t.Setenv("BRAID_CONFIG", name)
	t.Setenv("BRAID_CLOSE", "4s")
	t.Setenv("BRAID_ERROR_MODE", "peer")
	t.Setenv("BRAID_SECRET", "")
	os.Unsetenv("BRAID_SECRET")
	o, err := braid.FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"lanes": "2", "keepalive": "9s"} {
		if err := o.Settings.Default(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Settings.Set("wait", "sleep", "--wait"); err != nil {
		t.Fatal(err)
	}
	o.Times.Lost = 2 * time.Second
	o.Transports = braid.Default()[:1]
	n, err := braid.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for key, want := range map[string]string{
		"window":     "4MiB default ",
		"lanes":      "2 program this program's default",
		"keepalive":  "2s file " + name + ":2",
		"close":      "4s environment BRAID_CLOSE",
		"error-mode": "peer environment BRAID_ERROR_MODE",
		"wait":       "sleep given --wait",
		"lost-after": "2s given Options.Times.Lost",
		"secret":     "unset default ",
		"transports": "tcp given Options.Transports",
		"rails":      "auto default ",
	} {
		s := setting(t, n.Settings(), key)
		if got := s.Value + " " + s.Origin + " " + s.Where; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if s := setting(t, o.Settings.List(), "lost-after"); s.Value != "1s" {
		t.Errorf("the settings have learned from the options: %+v", s)
	}
}

// TestSettingsHold: what is set is what a node does.
func TestSettingsHold(t *testing.T) {
	tidy(t)
	ctx := testContext(t)
	s := &braid.Settings{}
	if err := s.ReadEnv([]string{"BRAID_MESSAGE=1000", "BRAID_ERROR_MODE=none", "BRAID_LANES=3"}); err != nil {
		t.Fatal(err)
	}
	p := connect(t, braid.Options{Settings: s}, braid.Options{Settings: s})
	if p.a.Mode() != braid.None {
		t.Errorf("mode %v", p.a.Mode())
	}
	if got := len(p.a.Lanes()); got != 3 {
		t.Errorf("%d lanes", got)
	}
	if err := p.a.SendAM(ctx, 1, nil, make([]byte, 1001)); err == nil || !strings.Contains(err.Error(), "at most 1000") {
		t.Errorf("a message above the limit: %v", err)
	}
}

// TestSettingsAreOptions: each field of Options that is no code is a setting, and each setting names the field that is its own.
func TestSettingsAreOptions(t *testing.T) {
	code := map[string]bool{"Settings": true, "Owned": true, "OnEvent": true, "Faults": true}
	fields := map[string]bool{}
	var walk func(prefix string, typ reflect.Type)
	walk = func(prefix string, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			switch name := prefix + f.Name; {
			case code[name]:
			case f.Type == reflect.TypeFor[braid.Limits](), f.Type == reflect.TypeFor[braid.Times]():
				walk(name+".", f.Type)
			default:
				fields[name] = true
			}
		}
	}
	walk("", reflect.TypeFor[braid.Options]())
	for _, s := range new(braid.Settings).List() {
		if s.Option != "" && !fields[s.Option] {
			t.Errorf("%s is for Options.%s, which is not there or has another setting", s.Name, s.Option)
		}
		delete(fields, s.Option)
	}
	for name := range fields {
		t.Errorf("Options.%s is no setting", name)
	}
}

// TestOptionsSay: an option that is set shows in its own setting, and in no other.
func TestOptionsSay(t *testing.T) {
	for _, s := range new(braid.Settings).List() {
		var o braid.Options
		path := strings.Split(s.Option, ".")
		f := reflect.ValueOf(&o).Elem().FieldByName(path[0])
		if len(path) > 1 {
			f = f.FieldByName(path[1])
		}
		switch {
		case s.Option == "", s.Name == "transports", s.Name == "log", s.Name == "secret":
			continue // none; code; it has no arithmetic
		case f.Kind() == reflect.String:
			f.SetString("x")
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.Kind() == reflect.Slice:
			f.Set(reflect.ValueOf([]string{"127.0.0.1"}))
		case f.CanUint():
			f.SetUint(1)
		case f.Type() == reflect.TypeFor[time.Duration](): // between those that it must not cross
			f.SetInt(int64(30 * time.Millisecond))
		default:
			f.SetInt(8192)
			if s.Name == "lanes" || s.Name == "most-lanes" {
				f.SetInt(2)
			}
		}
		n, err := braid.Open(o)
		if err != nil {
			t.Errorf("Options.%s: %v", s.Option, err)
			continue
		}
		for _, now := range n.Settings() {
			want := now.Origin == "default"
			if now.Name == s.Name {
				want = now.Where == "Options."+s.Option
			}
			if !want {
				t.Errorf("Options.%s is set: %s = %s, %s %s", s.Option, now.Name, now.Value, now.Origin, now.Where)
			}
		}
		if back := fieldOf(n.Options(), s.Option); !reflect.DeepEqual(back, fieldOf(o, s.Option)) {
			t.Errorf("Options.%s was %v, and what holds is said to be %v", s.Option, fieldOf(o, s.Option), back)
		}
		n.Close()
	}
}

// fieldOf is what an option says, by its path.
func fieldOf(o braid.Options, path string) any {
	f := reflect.ValueOf(o)
	for _, name := range strings.Split(path, ".") {
		f = f.FieldByName(name)
	}
	return f.Interface()
}

// TestOptionsThatHold: what settings come to, with the defaults filled in, and auto as zero.
func TestOptionsThatHold(t *testing.T) {
	s := &braid.Settings{}
	if o := s.Options(); o.Times.Suspended != 30*time.Second || o.Limits.Window != 4<<20 || o.Lanes != 0 || o.Rails != nil || o.ErrorMode != braid.Failover || o.Times.RedialFor != 0 {
		t.Errorf("nothing is said, and %+v holds", o)
	}
	for _, x := range [][2]string{{"suspended", "7s"}, {"lanes", "3"}, {"rails", "lo,!docker*"}, {"error-mode", "none"}, {"wait", "poll"}, {"secret", braid.NewSecret().Text()}} {
		if err := s.Set(x[0], x[1], "a test"); err != nil {
			t.Fatal(err)
		}
	}
	o := s.Options()
	if o.Times.Suspended != 7*time.Second || o.Lanes != 3 || !slices.Equal(o.Rails, []string{"lo", "!docker*"}) || o.ErrorMode != braid.None || o.Wait != braid.WaitPoll {
		t.Errorf("%+v", o)
	}
	if o.Secret.Text() != "" {
		t.Error("a secret is among what is shown")
	}
	if o := (*braid.Settings)(nil).Options(); o.Times.Peer != 10*time.Second {
		t.Errorf("no settings: %+v", o)
	}
}

// TestWordsOfSettings: the words are in the order of the constants that they stand for.
func TestWordsOfSettings(t *testing.T) {
	modes, _ := config.Lookup("error-mode")
	for i, word := range modes.Words {
		if braid.ErrorMode(i).String() != word {
			t.Errorf("%v is called %s", braid.ErrorMode(i), word)
		}
	}
	waits, _ := config.Lookup("wait")
	if want := []string{braid.WaitAdaptive: "adaptive", braid.WaitPoll: "poll", braid.WaitSleep: "sleep"}; !reflect.DeepEqual(waits.Words, want) {
		t.Errorf("%q, want %q", waits.Words, want)
	}
}

// TestLogSetting: the level that the setting names, and what is above it, goes to standard error.
func TestLogSetting(t *testing.T) {
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	for level, want := range map[string]int{"off": 0, "error": 0, "warn": 1, "info": 1, "debug": 1} {
		f, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		os.Stderr = f
		s := &braid.Settings{}
		if err := s.ReadEnv([]string{"BRAID_WIDNOW=1", "BRAID_LOG=" + level}); err != nil {
			t.Fatal(err)
		}
		n, err := braid.Open(braid.Options{Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		n.Close()
		f.Close()
		b, err := os.ReadFile(f.Name())
		if got := strings.Count(string(b), "level=WARN"); err != nil || got != want {
			t.Errorf("log = %s: %d warnings: %s, %v", level, got, b, err)
		}
	}
}

// TestD11_TransportsKeepTheFirstConnection: a list of transports never takes away what makes the first connection.
func TestD11_TransportsKeepTheFirstConnection(t *testing.T) {
	tidy(t)
	var names []string
	for _, tr := range braid.Default() {
		names = append(names, tr.Name())
	}
	want := []string{"tcp", "self"}
	if runtime.GOOS == "linux" {
		want = append(want, "shm")
	}
	if !slices.Equal(names, want) {
		t.Errorf("by default there are %q, want %q", names, want)
	}
	for _, list := range []string{"self", "tcp", "shm", "tcp,self"} {
		s := &braid.Settings{}
		if err := s.Set("transports", list, "--set"); err != nil {
			t.Fatal(err)
		}
		p := connect(t, braid.Options{Settings: s}, braid.Options{Settings: s})
		if err := p.a.SendAM(testContext(t), 1, nil, []byte("hello")); err != nil {
			t.Errorf("transports = %s: %v", list, err)
		}
	}
}

// TestSettingsMistakes: all are told, each with its place; the environment's strangers are logged.
func TestSettingsMistakes(t *testing.T) {
	name := settingsFile(t, "keepalve = 2s\nclose = now\n")
	t.Setenv("BRAID_CONFIG", name)
	t.Setenv("BRAID_LANES", "99")
	_, err := braid.FromEnv()
	for _, want := range []string{
		"BRAID_CONFIG: " + name + ":1: no setting is named \"keepalve\"; did you mean keepalive?",
		name + ":2: close can't be \"now\": want a time", "BRAID_LANES: lanes can't be \"99\": want a number from 1 to 16",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	t.Setenv("BRAID_CONFIG", filepath.Join(t.TempDir(), "none"))
	if _, err := braid.FromEnv(); err == nil || !strings.Contains(err.Error(), "BRAID_CONFIG: settings: open ") {
		t.Errorf("%v, want an error about the file", err)
	}

	s := &braid.Settings{}
	if err := s.ReadEnv([]string{"BRAID_WIDNOW=1k"}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	n, err := braid.Open(braid.Options{Settings: s, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	n.Close()
	if got := log.String(); !strings.Contains(got, "level=WARN") || !strings.Contains(got, "BRAID_WIDNOW") || !strings.Contains(got, "did you mean BRAID_WINDOW?") {
		t.Errorf("logged: %s", got)
	}
	for _, c := range []struct{ name, value, want string }{
		{"secret", "short", "--set: "}, {"rails", "no/rail", "--set: rail"}, {"lost-after", "1ms", "probe-after (10ms, default) must not be above lost-after (1ms, --set)"},
	} {
		s := &braid.Settings{}
		if err := s.Set(c.name, c.value, "--set"); err != nil {
			t.Fatal(err)
		}
		if n, err := braid.Open(braid.Options{Settings: s}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
			if n != nil {
				n.Close()
			}
		}
	}
}

// TestSecretInSettingsFile: only where nobody else can read or change it, and it never shows.
func TestSecretInSettingsFile(t *testing.T) {
	text := braid.NewSecret().Text()
	name := settingsFile(t, "close = 1s\nsecret = "+text+"\n")
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o660: false, 0o602: false, 0o620: false, 0o604: false} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		s := &braid.Settings{}
		err := s.ReadFile(name)
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o: %v", mode, err)
		}
		if got := setting(t, s.List(), "secret").Value; (got == "set") != ok {
			t.Errorf("mode %04o: %s", mode, got)
		}
		if shown := fmt.Sprintf("%v %+v %#v %v", s, s.List(), *s, err); strings.Contains(shown, text) {
			t.Errorf("a secret shows in %s", shown)
		}
	}
	name = settingsFile(t, "close = 1s\n")
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := new(braid.Settings).ReadFile(name); err != nil {
		t.Errorf("a file without a secret: %v", err)
	}
}

// People set what a program has not fixed: by a file that BRAID_CONFIG names, and by BRAID_ variables.
func ExampleFromEnv() {
	os.Setenv("BRAID_KEEPALIVE", "2s")
	defer os.Unsetenv("BRAID_KEEPALIVE")
	o, err := braid.FromEnv()
	check(err)
	check(o.Settings.Default("lanes", "2")) // unless somebody says otherwise
	n, err := braid.Open(o)
	check(err)
	defer n.Close()
	for _, s := range n.Settings() {
		if s.Name == "keepalive" || s.Name == "lanes" {
			fmt.Printf("%s = %s (%s)\n", s.Name, s.Value, s.Where)
		}
	}
	// Output:
	// lanes = 2 (this program's default)
	// keepalive = 2s (BRAID_KEEPALIVE)
}
