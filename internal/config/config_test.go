package config

import (
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// promised are the limits and times that the design promises, by their keys.
var promised = map[string]string{
	"handshake": "5s", "keepalive": "1s", "peer-timeout": "10s", "suspended": "30s", "close": "5s", "probe-after": "10ms", "lost-after": "30ms",
	"redial-min": "20ms", "redial-max": "5s", "hello": "2s",
	"half-open": "64", "half-open-per-address": "8", "window": "4MiB", "message": "64MiB", "backlog": "64MiB", "replies": "64",
}

func TestPromisedDefaults(t *testing.T) {
	for name, want := range promised {
		k, ok := Lookup(name)
		if !ok {
			t.Errorf("no key %s", name)
		} else if k.Default != want {
			t.Errorf("%s is %s, promised is %s", name, k.Default, want)
		}
	}
}

// TestTable: the table is in order: names, defaults that are in bounds and written as they are printed, texts.
func TestTable(t *testing.T) {
	fields, names := map[any]string{}, map[string]bool{}
	var n Node
	for i := range Keys {
		k := &Keys[i]
		if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(k.Name) || names[k.Name] || k.Text == "" {
			t.Errorf("%q: a name is of lower case words, there once, and explained", k.Name)
		}
		names[k.Name] = true
		f := k.field(&n)
		if other, ok := fields[f]; ok {
			t.Errorf("%s and %s are the same field", k.Name, other)
		}
		fields[f] = k.Name
		if k.Default != "" && k.Auto != "" {
			t.Errorf("%s: a default or auto, not both", k.Name)
		}
		if k.Default == "" {
			continue
		}
		var n Node
		if err := k.Parse(&n, k.Default); err != nil {
			t.Errorf("%s = %s: %v", k.Name, k.Default, err)
		} else if got := k.Print(&n); got != k.Default {
			t.Errorf("%s = %s is printed %s", k.Name, k.Default, got)
		}
	}
	every(reflect.ValueOf(&n).Elem(), "", func(path string, field any) {
		if fields[field] == "" {
			t.Errorf("Node.%s has no key", path)
		}
	})
}

// every calls fn with each field that isn't a struct.
func every(v reflect.Value, path string, fn func(string, any)) {
	for i := range v.NumField() {
		name := path + "." + v.Type().Field(i).Name
		if f := v.Field(i); f.Kind() == reflect.Struct {
			every(f, name, fn)
		} else {
			fn(name, f.Addr().Interface())
		}
	}
}

// TestDefaults: invariant 1, and what was said stays.
func TestDefaults(t *testing.T) {
	c := Config{Bounds: Bounds{Window: 1000}, Times: Times{Close: time.Hour}}
	c.Defaults()
	if c.Window != 1000 || c.Times.Close != time.Hour {
		t.Errorf("what was said is gone: %+v", c)
	}
	for _, part := range []any{&c.Bounds, &c.Times} {
		every(reflect.ValueOf(part).Elem(), "", func(path string, field any) {
			if reflect.ValueOf(field).Elem().IsZero() && !slices.Contains([]string{".RedialFor", ".Stripe", ".Eager", ".ZeroCopy", ".Rendezvous"}, path) { // for ever; by the lanes
				t.Errorf("%s is zero", path)
			}
		})
	}
}

func TestGrammar(t *testing.T) {
	for _, c := range []struct{ key, text, want string }{ // want "": refused
		{"keepalive", "250ms", "250ms"}, {"keepalive", "1.5s", "1.5s"}, {"keepalive", "120s", "2m"}, {"keepalive", "1h", "1h"}, {"keepalive", "1h30m", "1h30m"},
		{"keepalive", "10", ""}, {"keepalive", "0", ""}, {"keepalive", "0s", ""}, {"keepalive", "-1s", ""}, {"keepalive", "", ""}, {"keepalive", "9000h", ""}, {"keepalive", "1 s", ""}, {"keepalive", "auto", ""},
		{"window", "65536", "64KiB"}, {"window", "64k", "64KiB"}, {"window", "64K", "64KiB"}, {"window", "4MiB", "4MiB"}, {"window", "4m", "4MiB"}, {"window", "1000", "1000"}, {"window", "1000B", "1000"}, {"window", "1TiB", "1TiB"},
		{"window", "4MB", ""}, {"window", "4 MiB", ""}, {"window", "0", ""}, {"window", "-1", ""}, {"window", "+1", ""}, {"window", "k", ""}, {"window", "1e6", ""}, {"window", "99999999999999999999", ""}, {"window", "9000000TiB", ""}, {"window", "16777217TiB", ""},
		{"pending", "64", "64"}, {"pending", "064", "64"}, {"pending", "64k", ""}, {"pending", "0", ""}, {"pending", "١", ""},
		{"lanes", "auto", "auto"}, {"lanes", "16", "16"}, {"lanes", "17", ""},
		{"rails", "eth0", "eth0"}, {"rails", " eth0 , 10.0.0.5 ", "eth0,10.0.0.5"}, {"rails", "auto", "auto"}, {"rails", "", ""}, {"rails", "a,,b", ""}, {"rails", "a\x00", ""},
		{"error-mode", "none", "none"}, {"error-mode", "None", ""}, {"error-mode", "", ""},
		{"transports", "self", "self"}, {"transports", "tcp,ib", ""},
		{"name", "worker 3", "worker 3"}, {"name", "line\nend", ""}, {"name", "\xff", ""}, {"name", "0123456789012345678901234567890123456789012345678901234567890123", "0123456789012345678901234567890123456789012345678901234567890123"}, {"name", "01234567890123456789012345678901234567890123456789012345678901234", ""},
	} {
		k, _ := Lookup(c.key)
		var n Node
		err := k.Parse(&n, c.text)
		if (err != nil) != (c.want == "") {
			t.Errorf("%s = %q: %v", c.key, c.text, err)
		} else if got := k.Print(&n); err == nil && got != c.want {
			t.Errorf("%s = %q is %q, want %q", c.key, c.text, got, c.want)
		}
		if err != nil && !cmp.Equal(n, Node{}) {
			t.Errorf("%s = %q was refused and changed something: %+v", c.key, c.text, n)
		}
	}
}

func TestBool(t *testing.T) {
	k := Key{Kind: Bool}
	for text, want := range map[string]string{"yes": "yes", "true": "yes", "on": "yes", "1": "yes", "no": "no", "false": "no", "off": "no", "0": "no", "": "", "maybe": "", "Yes": ""} {
		v, ok := Bool.parse(&k, text)
		if ok != (want != "") || ok && Bool.print(&k, v) != want {
			t.Errorf("%q: %v, %v", text, v, ok)
		}
	}
}
