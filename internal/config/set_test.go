package config

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func (s *Set) value(name string) string {
	for _, v := range s.Values() {
		if v.Key.Name == name {
			return fmt.Sprintf("%s from %v %s", v.Text, v.Origin.Layer, v.Origin.Where)
		}
	}
	return ""
}

// TestLayers: a higher layer wins in whatever order they come; within one the later.
func TestLayers(t *testing.T) {
	steps := []func(*Set) error{
		func(s *Set) error { return s.Put("window", "1k", Origin{Program, "this program"}) },
		func(s *Set) error { return s.File("braid.conf", []byte("\nwindow = 2k\n")) },
		func(s *Set) error { return s.Environ([]string{"BRAID_WINDOW=3k"}) },
		func(s *Set) error { return s.Put("window", "4k", Origin{Given, "--set"}) },
	}
	want := []string{"4MiB from default ", "1KiB from program this program", "2KiB from file braid.conf:2", "3KiB from environment BRAID_WINDOW", "4KiB from given --set"}
	for most := range len(steps) + 1 {
		for turned := range 2 {
			order := slices.Clone(steps[:most])
			if turned == 1 {
				slices.Reverse(order)
			}
			var s Set
			for _, step := range order {
				if err := step(&s); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.value("window"); got != want[most] {
				t.Errorf("%d layers, turned %d: %s, want %s", most, turned, got, want[most])
			}
		}
	}
	var s Set
	for _, text := range []string{"5s", "6s"} {
		if err := s.Put("close", text, Origin{Given, "--set"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.value("close"); got != "6s from given --set" {
		t.Error(got)
	}
}

// TestAutoWins: "auto" takes back what a lower layer said.
func TestAutoWins(t *testing.T) {
	var s Set
	if err := s.File("f", []byte("lanes = 3\nrails = eth0")); err != nil {
		t.Fatal(err)
	}
	if err := s.Environ([]string{"BRAID_LANES=auto", "BRAID_RAILS=auto"}); err != nil {
		t.Fatal(err)
	}
	if n := s.Node(); n.Lanes != 0 || n.Rails != nil || s.value("lanes") != "auto from environment BRAID_LANES" {
		t.Errorf("%+v %s", n, s.value("lanes"))
	}
}

func TestFile(t *testing.T) {
	for _, c := range []struct{ text, name string }{
		{"name=x", "x"}, {"name = x y", "x y"}, {"name = x # y", "x"}, {"name = x#y", "x#y"}, {"name = #", ""}, {`name = "x # y" # z`, "x # y"}, {`name = "a\"b\\c"`, `a"b\c`},
		{"\ufeffname = x\r\n", "x"}, {"# name = y\n\n  name\t=\tx  \n", "x"}, {"name = a=b", "a=b"}, {"name = x\nlanes = 3", "x"}, {`name = ""`, ""},
	} {
		var s Set
		if err := s.File("f", []byte(c.text)); err != nil || s.Node().Name != c.name {
			t.Errorf("%q: %q, %v; want %q", c.text, s.Node().Name, err, c.name)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"lanes 3", `f:1: this is no line KEY = VALUE`},
		{"\n= 3", `f:2: this is no line KEY = VALUE`},
		{"[limits]", "f:1: there are no sections here"},
		{"lanes = 3\n# x\nlanes = 4", "f:3: lanes is set in line 1 already"},
		{`name = "x`, `f:1: a closing " is missing`}, {`name = "x" y`, "f:1: something stands behind the closing quote"}, {`name = "\n"`, "f:1: in quotes a"},
		{"name = x\x00", "f:1: name can't be"}, {"name = \xff", "f is no text in UTF-8"}, {strings.Repeat("#", MostFile+1), "f has 1048577 bytes"},
		{strings.Repeat("x\n", 1000), "f: too many errors"},
	} {
		var s Set
		err := s.File("f", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestD12_BadValue: it names key, value and grammar; the others hold, and all that are wrong are told at once.
func TestD12_BadValue(t *testing.T) {
	var s Set
	err := s.File("braid.conf", []byte("keepalive = 10\nwindow = 8MiB\nlost-after = soon"))
	err = errors.Join(err, s.Environ([]string{"BRAID_LANES=many", "BRAID_WAIT=poll"}))
	want := `braid.conf:1: keepalive can't be "10": want a time from 1ns to 8760h, as 250ms, 5s or 2m
braid.conf:3: lost-after can't be "soon": want a time from 1ns to 8760h, as 250ms, 5s or 2m
BRAID_LANES: lanes can't be "many": want a number from 1 to 16; or auto`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	if n := s.Node(); n.Window != 8<<20 || n.Wait != 1 || n.Keepalive != 0 {
		t.Errorf("%+v", n)
	}
	if v := (*ValueError)(nil); !errors.As(err, &v) || v.Key.Name != "keepalive" {
		t.Errorf("%#v", v)
	}
}

// TestMisspelt: an error in a file and of a flag, a warning in the environment; the nearest key is named.
func TestMisspelt(t *testing.T) {
	for _, c := range []struct{ name, near string }{
		{"keepalve", "keepalive"}, {"keep-alive", "keepalive"}, {"KEEPALIVE", "keepalive"}, {"peer_timeout", "peer-timeout"}, {"peertimeout", "peer-timeout"},
		{"widnow", "window"}, {"lane", "lanes"}, {"rail", "rails"}, {"half-opne", "half-open"}, {"send-buffer", "tcp-send-buffer"}, {"per-address", "half-open-per-address"},
		{"buffer", ""}, {"tcp", ""}, {"xyzzy", ""}, {"", ""}, {strings.Repeat("x", 100000), ""},
	} {
		var s Set
		err := s.Put(c.name, "1", Origin{Given, "--set"})
		if u := (*UnknownError)(nil); !errors.As(err, &u) || u.Near != c.near {
			t.Errorf("%.20q: %v, want near %q", c.name, err, c.near)
		} else if len(err.Error()) > 300 {
			t.Errorf("%d bytes of error", len(err.Error()))
		}
	}
	var s Set
	if err := s.Environ([]string{"BRAID_KEEPALVE=1s", "BRAID_HOME=/", "BRAID_peer_timeout=1s", "BRAID_PEER-TIMEOUT=1s", "BRAID_=1", "BRAID_NO_SKIP=1", "BRAID_CONFIG=x", "PATH=/bin", "BRAIDED=1", "BRAID_LANES=", "nonsense"}); err != nil {
		t.Error(err)
	}
	want := []string{
		"the environment has \"BRAID_\", which is no setting; `braid info config` lists all",
		"the environment has \"BRAID_HOME\", which is no setting; `braid info config` lists all",
		`the environment has "BRAID_KEEPALVE", which is no setting; did you mean BRAID_KEEPALIVE?`,
		`the environment has "BRAID_PEER-TIMEOUT", which is no setting; did you mean BRAID_PEER_TIMEOUT?`,
		`the environment has "BRAID_peer_timeout", which is no setting; did you mean BRAID_PEER_TIMEOUT?`,
	}
	if !slices.Equal(s.Warnings(), want) {
		t.Errorf("%q", s.Warnings())
	}
}

// TestRelate: values that don't go together are told with who said them, once everybody has spoken.
func TestRelate(t *testing.T) {
	var s Set
	if err := s.File("f", []byte("lost-after = 9ms")); err != nil {
		t.Fatal(err)
	}
	if err, want := s.Relate(), "probe-after (10ms, default) must not be above lost-after (9ms, f:1): change one of them"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, fits := range []string{"5ms", "9ms"} {
		if err := s.Environ([]string{"BRAID_PROBE_AFTER=" + fits}); err != nil {
			t.Fatal(err)
		}
		if err := s.Relate(); err != nil {
			t.Error(err)
		}
	}
}

// TestTimesHaveUnits: also one of which any unit is the same.
func TestTimesHaveUnits(t *testing.T) {
	for _, text := range []string{"", "0", "5", "+0", "1.5", "5 s"} {
		if d, ok := parseDuration(text); ok {
			t.Errorf("%q is taken for %v", text, d)
		}
	}
}

// TestSecret: it never shows, in no error, list or print.
func TestSecret(t *testing.T) {
	const text = "very-secret-text"
	k, _ := Lookup("secret")
	var s Set
	if err := s.File("f", []byte("secret = "+text)); err != nil || s.Node().Secret != text || s.value("secret") != "set from file f:1" {
		t.Fatal(err, s.value("secret"))
	}
	for _, shown := range []string{
		fmt.Sprintf("%v %+v %#v", s, s, &s), s.value("secret"), fmt.Sprint(s.File("f", []byte("secret "+text))), fmt.Sprint(s.File("f", []byte(`secret = "`+text))),
		fmt.Sprint(s.File("f", []byte(`secret = "x" `+text))), fmt.Sprint(s.Put("secret", text+"\xff", Origin{})), (&ValueError{Key: k, Value: text, Err: errors.New("want another")}).Error(), k.Initial(),
	} {
		if strings.Contains(shown, text) {
			t.Errorf("a secret shows in %s", shown)
		}
	}
	if err := new(Set).Environ([]string{"BRAID_SECRET="}); err == nil {
		t.Error("an empty secret is taken")
	}
}

// TestSecretForSettings: a file with nothing but a secret, as it is made, that somebody takes for one of settings: the error names the line, says what it is where
// that can be told, and shows none of it. The same for one in the place of a key or of another key's value.
func TestSecretForSettings(t *testing.T) {
	digits := hex.EncodeToString([]byte("thirty-two bytes that are random"))
	printed := "braid-secret-249uymv3SGVsbG8sIHRoaXMgaXMgYSBzZWNyZXQgb2YgMzIgYnl0ZXM"
	known, unknown := "is a secret, not settings", "no line KEY = VALUE"
	for text, want := range map[string]string{
		printed: known, digits: known, strings.ToUpper(digits): known, digits[:40]: known, "secret " + printed: known, "secret: " + digits: unknown, digits + " # mine": unknown, "=" + digits: unknown,
		"dGhpcnR5LXR3byBieXRlcyB0aGF0IGFyZSByYW5kb20=": unknown, // openssl rand -base64 32
		"AAECAwQFBgcICQoLDA0ODw==":                     unknown, // of 16 bytes
		"[" + digits + "]":                             "sections", "keepalive = " + digits: "keepalive", "keepalive = " + printed: "keepalive",
	} {
		err := new(Set).File("f", []byte("# mine\n"+text+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "f:2: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		shows(t, err, digits, printed, "dGhpcnR5LXR3byBieXRlcyB0aGF0IGFyZSByYW5kb20", "AAECAwQFBgcICQoLDA0ODw")
	}
	for _, name := range []string{printed, digits} {
		shows(t, new(Set).Put(name, "1", Origin{}), digits, printed)
	}
}

// shows fails if an error shows eight bytes of a secret.
func shows(t *testing.T, err error, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		for _, s := range []string{s, strings.ToUpper(s)} {
			for i := len("braid-secret-"); i+8 <= len(s); i++ {
				if strings.Contains(fmt.Sprint(err), s[i:i+8]) {
					t.Fatalf("a secret shows in %v", err)
				}
			}
		}
	}
}

// FuzzFile: whatever a file says, what was taken is printed such that it is taken again and means the same.
func FuzzFile(f *testing.F) {
	for _, text := range []string{"", "lanes = 3", "name = \"a\\\"b\" # c\n[x]\nkeepalive=1h0m0s", "rails = a, b\r\nwindow=4m\n=\n", "\ufeff# x", "error-mode = none\nlanes = auto"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s, again Set
		err := s.File("f", text)
		if err != nil && len(err.Error()) > 10_000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		for _, v := range s.Values() {
			if v.Origin.Layer == File && v.Key.Kind != Secret {
				if err := again.Put(v.Key.Name, v.Text, v.Origin); err != nil {
					t.Errorf("printed is %q: %v", v.Text, err)
				}
			}
		}
		if n := s.Node(); n.Secret != "" {
			if err := again.Put("secret", n.Secret, Origin{Layer: File}); err != nil {
				t.Errorf("a secret was taken, and is none: %v", err)
			}
		}
		if a, b := fmt.Sprintf("%+v", s.Node()), fmt.Sprintf("%+v", again.Node()); a != b {
			t.Errorf("%s\nprinted and read again:\n%s", a, b)
		}
	})
}

// FuzzValue: what a key takes it prints such that it takes it again, printed the same.
func FuzzValue(f *testing.F) {
	for i := range Keys {
		f.Add(i, Keys[i].Initial())
	}
	f.Add(8, "9223372036854775807")
	f.Fuzz(func(t *testing.T, key int, text string) {
		k := &Keys[(key%len(Keys)+len(Keys))%len(Keys)]
		var n, again Node
		if k.Parse(&n, text) != nil {
			return
		}
		printed := k.Print(&n)
		if err := k.Parse(&again, printed); err != nil || k.Print(&again) != printed {
			t.Errorf("%s = %q is printed %q, and read again %q: %v", k.Name, text, printed, k.Print(&again), err)
		}
	})
}
