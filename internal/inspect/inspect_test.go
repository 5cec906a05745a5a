package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fill gives each field a value of its own, and says which texts people must then find.
func fill(v reflect.Value, path string, n *int) (texts map[string]string) {
	texts = map[string]string{}
	into := func(more map[string]string) {
		for k, t := range more {
			texts[k] = t
		}
	}
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name != "Silent" { // then nothing else is known
				into(fill(v.Field(i), path+"."+name, n))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		into(fill(v.Index(0), path, n))
	case reflect.String:
		v.SetString(fmt.Sprintf("text%d", *n))
		texts[path] = v.String()
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) * 1e6) // a rate is shown in megabytes
		texts[path] = fmt.Sprint(*n)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(1000 + *n))
		texts[path] = fmt.Sprint(1000 + *n)
	case reflect.Uint64:
		v.SetUint(uint64(1000 + *n))
		texts[path] = fmt.Sprint(1000 + *n)
	default:
		panic("no value for a " + v.Kind().String())
	}
	return texts
}

// TestPrint: what is known is shown to people, too: positions, credits, epochs, what is fenced, what waits, timers, and why there is no lane.
func TestPrint(t *testing.T) {
	var p Process
	n := 100
	texts := fill(reflect.ValueOf(&p).Elem(), "", &n)
	var out bytes.Buffer
	p.Print(&out)
	for path, text := range texts {
		if !strings.Contains(out.String(), text) {
			t.Errorf("%s is not shown (%s)", path, text)
		}
	}
	for _, word := range []string{"order lane", "silent and asked"} {
		if !strings.Contains(out.String(), word) {
			t.Errorf("%q is not said", word)
		}
	}
	if t.Failed() {
		t.Logf("\n%s", &out)
	}
	silent := Worker{Mode: "owned", Silent: true}
	out.Reset()
	if silent.Print(&out); !strings.Contains(out.String(), "no progress for a second") {
		t.Errorf("of a worker that is silent: %s", &out)
	}
}

// TestNames: programs read these names.
func TestNames(t *testing.T) {
	var p Process
	n := 0
	fill(reflect.ValueOf(&p).Elem(), "", &n)
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var all any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, names(all)); diff != "" {
		t.Errorf("- what is promised, + what there is:\n%s", diff)
	}
}

const want = `{name pid uptime_s workers[{endpoints[{counts{bad_frames gets handovers lanes_lost lanes_up messages puts replayed_bytes} error error_mode exchange[] id ` +
	`lanes[{accepted accepted_bytes acked acked_bytes fault instance name order path posted posted_bytes rate_bytes_s reason since_s slot state suspect}] name ` +
	`paths[{next_s path reason state}] peer side state timers[{in_s what}] unused[{path rail why}] ` +
	`work{answers epoch fenced flushes gets message_credit_bytes ordered replays reply_credits uncovered unexecuted unordered waiting_bytes}}] half_open listeners[{addrs[]}] mode}]}`

// names are those of a value, in order.
func names(v any) string {
	switch x := v.(type) {
	case map[string]any:
		var keys []string
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for i, k := range keys {
			keys[i] = k + names(x[k])
		}
		return "{" + strings.Join(keys, " ") + "}"
	case []any:
		return "[" + names(x[0]) + "]"
	}
	return ""
}
