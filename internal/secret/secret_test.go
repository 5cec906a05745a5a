package secret_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/openbraid/braid/internal/secret"
)

func from(t testing.TB, b []byte) secret.Secret {
	t.Helper()
	s, err := secret.From(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var sixteen = []byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f")

func TestTooLittle(t *testing.T) {
	for n := range 16 {
		if s, err := secret.From(sixteen[:n]); !errors.Is(err, secret.ErrSecret) || s.IsSet() {
			t.Errorf("%d bytes: %v, %v", n, s, err)
		}
		if s, err := secret.Parse(hex.EncodeToString(sixteen[:n])); !errors.Is(err, secret.ErrSecret) || s.IsSet() {
			t.Errorf("%d bytes as text: %v, %v", n, s, err)
		}
	}
	for _, b := range []byte{0, 0xff, 'a'} {
		if s, err := secret.From(bytes.Repeat([]byte{b}, 32)); !errors.Is(err, secret.ErrSecret) || s.IsSet() {
			t.Errorf("32 times %#x: %v, %v", b, s, err)
		}
	}
	from(t, sixteen)
}

// TestText: what Text writes is what people can copy, and Parse reads it back. One that has changed anywhere, or was cut, is refused,
// and the error shows nothing of it.
func TestText(t *testing.T) {
	const want = "braid-secret-AAECAwQFBgcICQoLDA0OD-M51r4"
	s := from(t, sixteen)
	if got := s.Text(); len(got) != len(want) || !strings.HasPrefix(got, want[:35]) {
		t.Errorf("%s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 16, 80).Draw(t, "bytes")
		s, err := secret.From(b)
		if err != nil {
			return // all the same
		}
		text := s.Text()
		if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			t.Fatalf("a shell would want quotes around %q", text)
		}
		for _, form := range []string{text, "\n" + text + " \r\n", hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b))} {
			if back, err := secret.Parse(form); err != nil || !back.Equal(s) {
				t.Fatalf("%q: %v", form, err)
			}
		}
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		other := rapid.SampledFrom([]byte("abcXYZ019-_ \n$")).Draw(t, "other")
		for name, bad := range map[string]string{"cut": text[:at], "changed": text[:at] + string(other) + text[at+1:], "doubled": text + text[at:]} {
			if bad == text {
				continue
			}
			got, err := secret.Parse(bad)
			if !errors.Is(err, secret.ErrSecret) || got.IsSet() {
				t.Fatalf("%s: %q was taken for %q", name, bad, text)
			}
			if strings.Contains(err.Error(), text[len("braid-secret-"):][:8]) {
				t.Fatalf("the error shows it: %v", err)
			}
		}
	})
}

func TestNoPassword(t *testing.T) {
	for _, text := range []string{"", " \n", "correct horse battery staple", "hunter2hunter2hunter2", "0123456789abcdef0123456789abcdeg", "braid-secret-"} {
		if s, err := secret.Parse(text); !errors.Is(err, secret.ErrSecret) || s.IsSet() || text != "" && strings.TrimSpace(text) != "" && strings.Contains(err.Error(), text+" ") {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

func TestNew(t *testing.T) {
	a, b := secret.New(), secret.New()
	if !a.IsSet() || a.Equal(b) || !a.Equal(a) || a.Equal(secret.Secret{}) || !(secret.Secret{}).Equal(secret.Secret{}) {
		t.Error("two new secrets")
	}
	if back, err := secret.Parse(a.Text()); err != nil || !back.Equal(a) {
		t.Error(err)
	}
}

// TestPurposes: neither the purpose nor the message can be moved into the other.
func TestPurposes(t *testing.T) {
	s, o := from(t, sixteen), from(t, []byte("another secret of some bytes"))
	seen := map[[32]byte]string{}
	for _, c := range []struct {
		s                secret.Secret
		purpose, message string
	}{{s, "a", ""}, {s, "", "a"}, {s, "ab", "c"}, {s, "a", "bc"}, {s, "", "a\x00bc"}, {o, "a", ""}, {s.Derive("a", nil), "a", ""}, {s.Derive("b", nil), "a", ""}} {
		sum := c.s.MAC(c.purpose, []byte(c.message))
		name := fmt.Sprintf("%q %q", c.purpose, c.message)
		if before, twice := seen[sum]; twice {
			t.Errorf("%s and %s are the same", before, name)
		}
		seen[sum] = name
	}
}

// TestNeverPrinted: by whatever way it is printed, also deep inside of something else.
func TestNeverPrinted(t *testing.T) {
	s := from(t, []byte("plain to be seen, were it shown"))
	type inner struct {
		Shown  secret.Secret
		hidden secret.Secret
	}
	box := struct {
		In  inner
		Map map[string]secret.Secret
		all []secret.Secret
		any any
	}{inner{s, s}, map[string]secret.Secret{"a": s}, []secret.Secret{s}, s}
	var log strings.Builder
	for _, h := range []slog.Handler{
		slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil),
	} {
		slog.New(h).Info("it is", "secret", s, "box", box, "pointer", &s)
	}
	said := []string{log.String()}
	for _, v := range []any{s, &s, box, &box, box.In, []any{s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U", "%p", "%t", "%e", "%T"} {
			said = append(said, fmt.Sprintf(verb, v))
		}
		if b, err := json.Marshal(v); err == nil {
			said = append(said, string(b))
		}
	}
	for _, text := range said {
		for _, bare := range []string{"plain to", hex.EncodeToString([]byte("plain to")), strings.ToUpper(hex.EncodeToString([]byte("plain to"))), "112 108 97 105 110", "70 6c 61", "0x70, 0x6c", s.Text()[len("braid-secret-"):][:10]} {
			if strings.Contains(text, bare) {
				t.Errorf("shown: %s", text)
			}
		}
	}
	if fmt.Sprint(s, secret.Secret{}) != "set unset" {
		t.Error(fmt.Sprint(s, secret.Secret{}))
	}
	if b, _ := json.Marshal(box.In); string(b) != `{"Shown":"set"}` {
		t.Errorf("%s", b)
	}
}
