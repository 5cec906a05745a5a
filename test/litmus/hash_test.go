package litmus

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"
)

// hasher makes one number of everything that can be reached from some values: pointers are numbered in the order in which they are met, so
// that two worlds that differ in nothing but addresses are one state.
type hasher struct {
	sum    uint64
	plans  map[reflect.Type]*plan
	seen   map[met]uint64
	memory uintptr // of the region: what refers to it is known by where, since its bytes follow from what was written
}

var seed = maphash.MakeSeed()

// met is a pointer that was met: what it points to and its first field have the same address.
type met struct {
	at uintptr
	of reflect.Type
}

func (w *world) hashOf(roots ...any) uint64 {
	h := &w.hasher
	h.sum, h.memory = 1, reflect.ValueOf(w.region.Bytes).Pointer()
	if clear(h.seen); h.seen == nil {
		h.seen, h.plans = make(map[met]uint64, 512), make(map[reflect.Type]*plan, 128)
	}
	for _, r := range roots {
		h.value(reflect.ValueOf(r))
	}
	return h.sum
}

// What does not decide how a run goes on: counters for people, memory that is used again, and names.
var (
	noTypes = []string{"slog.Logger", "outbox.Scratch", "outbox.Stats", "worker.Stats", "mpool.Pool", "reassembly.Pool", "sim.Config", "sim.pool", "config.Config",
		"transport.Buffer", "sync.Mutex", "atomic.Int32", "memory.Region", "memory.Table", "fsm.Table"}
	noFields = []string{"lane.Lane.Fault", "sim.endpoint.net", "sim.endpoint.peer", "sim.endpoint.failAt", "sim.endpoint.failErr", "sim.sender.out", "sim.Iface.net", "sim.Iface.in", "sim.Host.net", "arrivals.Room[*github.com/openbraid/braid/internal/worker.link].turn", "arrivals.guest[*github.com/openbraid/braid/internal/worker.link].came",
		"sim.Net.hash", "sim.Net.seq", "sim.Net.seed", "sim.Net.found", "sim.event.seq", "timer.Timer.seq", "timer.Set.seq", "sim.item.place"}
)

func (h *hasher) number(n uint64) {
	high, low := bits.Mul64(h.sum^0x9e3779b97f4a7c15, n^0xd1b54a32d192ed03)
	h.sum = bits.RotateLeft64(h.sum, 23) ^ high ^ low
}

func (h *hasher) bytes(b []byte) {
	h.number(uint64(len(b)))
	h.number(maphash.Bytes(seed, b))
}

func (h *hasher) text(s string) { h.number(maphash.String(seed, s)) }

func (h *hasher) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
	case reflect.Float32, reflect.Float64:
		h.number(math.Float64bits(v.Float()))
	case reflect.Bool:
		if v.Bool() {
			h.number(1)
		} else {
			h.number(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		h.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		h.number(v.Uint())
	case reflect.String:
		h.text(v.String())
	case reflect.Interface:
		if !v.IsNil() {
			h.number(h.plan(v.Elem().Type()).name)
			h.value(v.Elem())
		}
	case reflect.Pointer:
		h.pointer(v)
	case reflect.Slice, reflect.Array:
		h.list(v)
	case reflect.Map:
		h.mapping(v)
	case reflect.Struct:
		h.structure(v)
	}
}

func (h *hasher) pointer(v reflect.Value) {
	if v.IsNil() {
		h.number(0)
		return
	}
	p := met{v.Pointer(), v.Type()}
	if n := h.seen[p]; n != 0 {
		h.number(n)
		return
	}
	h.seen[p] = uint64(len(h.seen) + 1)
	h.value(v.Elem())
}

func (h *hasher) list(v reflect.Value) {
	h.number(uint64(v.Len()))
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		if at := v.Pointer() - h.memory; at < slotSize*room {
			h.number(uint64(at) + 1<<32)
			return
		}
		h.bytes(v.Bytes())
		return
	}
	if h.plan(v.Type()).heap {
		h.heap(v)
		return
	}
	for i := range v.Len() {
		h.value(v.Index(i))
	}
}

// heap is a set: the order of its array is an accident.
func (h *hasher) heap(v reflect.Value) {
	var all []string
	for i := range v.Len() {
		e := v.Index(i)
		all = append(all, fmt.Sprint(e.FieldByName("at").Int(), e.FieldByName("kind").Uint(), e.FieldByName("ep").IsNil()))
	}
	slices.Sort(all)
	for _, s := range all {
		h.text(s)
	}
}

func (h *hasher) mapping(v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		if k.Kind() == reflect.String || k.CanUint() || k.CanInt() {
			h.text(fmt.Sprint(k))
			h.value(v.MapIndex(k))
		}
	}
}

// plan is how values of a type are hashed.
type plan struct {
	skip   bool
	item   bool  // of a wire
	place  bool  // of the record of order
	heap   bool  // of events
	fields []int // of a struct
	name   uint64
}

func (h *hasher) plan(t reflect.Type) *plan {
	if p := h.plans[t]; p != nil {
		return p
	}
	name := t.String()
	p := &plan{
		name: maphash.String(seed, name),
		skip: slices.Contains(noTypes, name) || strings.HasPrefix(name, "atomic.Pointer") || strings.HasPrefix(name, "fsm.Table"),
		item: name == "sim.item", place: name == "order.Place", heap: strings.HasSuffix(name, "sim.heap"),
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if f := t.Field(i); f.Type.Kind() != reflect.Func && !slices.Contains(noFields, name+"."+f.Name) {
			p.fields = append(p.fields, i)
		}
	}
	h.plans[t] = p
	return p
}

func (h *hasher) structure(v reflect.Value) {
	p := h.plan(v.Type())
	if p.skip {
		return
	}
	if p.place { // what is not 0, from its first epoch on
		tallies, head := v.FieldByName("tallies"), int(v.FieldByName("head").Int())
		h.number(v.FieldByName("n").Uint())
		for i := head; i < tallies.Len(); i++ {
			if n := tallies.Index(i).FieldByName("n").Uint(); n > 0 {
				h.number(tallies.Index(i).FieldByName("epoch").Uint())
				h.number(n)
			}
		}
		return
	}
	if p.item { // the bytes of its buffer that are its own
		if b := v.FieldByName("buf"); !b.IsNil() {
			h.bytes(b.Elem().FieldByName("Bytes").Bytes()[:v.FieldByName("size").Int()])
		}
	}
	for _, i := range p.fields {
		h.value(v.Field(i))
	}
}
