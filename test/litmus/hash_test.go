package litmus

import (
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// hasher makes one number of everything that can be reached from some values: pointers are numbered in the order in which they are met, so
// that two worlds that differ in nothing but addresses are one state.
type hasher struct {
	h    maphash.Hash
	seen map[uintptr]uint64
}

var seed = maphash.MakeSeed()

func hashOf(roots ...any) uint64 {
	h := &hasher{seen: map[uintptr]uint64{}}
	h.h.SetSeed(seed)
	for _, r := range roots {
		h.value(reflect.ValueOf(r))
	}
	return h.h.Sum64()
}

// What does not decide how a run goes on: counters for people, memory that is used again, names and luck.
var (
	noTypes = []string{"slog.Logger", "outbox.Scratch", "outbox.Stats", "worker.Stats", "mpool.Pool", "reassembly.Pool", "sim.luck", "sim.Config", "sim.pool", "config.Config",
		"transport.Buffer", "sync.Mutex", "atomic.Int32", "memory.Region", "memory.Table", "fsm.Table"}
	noFields = []string{"sim.Net.hash", "sim.Net.seq", "sim.Net.seed", "sim.Net.found", "sim.event.seq", "timer.Timer.seq", "timer.Set.seq", "sim.item.place"}
)

func (h *hasher) number(n uint64) {
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	h.h.Write(b[:])
}

func (h *hasher) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
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
		h.number(uint64(v.Len()))
		h.h.WriteString(v.String())
	case reflect.Interface:
		if !v.IsNil() {
			h.h.WriteString(v.Elem().Type().String())
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
	p := v.Pointer()
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
		h.h.Write(v.Bytes())
		return
	}
	if planOf(v.Type()).heap {
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
		h.h.WriteString(s)
	}
}

func (h *hasher) mapping(v reflect.Value) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		if k.Kind() == reflect.String || k.CanUint() || k.CanInt() {
			h.h.WriteString(fmt.Sprint(k))
			h.value(v.MapIndex(k))
		}
	}
}

// plan is how values of a type are hashed.
type plan struct {
	skip   bool
	item   bool  // of a wire
	heap   bool  // of events
	fields []int // of a struct
}

var plans sync.Map // by type

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	name := t.String()
	p := &plan{
		skip: slices.Contains(noTypes, name) || strings.HasPrefix(name, "atomic.Pointer") || strings.HasPrefix(name, "fsm.Table"),
		item: name == "sim.item", heap: strings.HasSuffix(name, "sim.heap"),
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		if f := t.Field(i); f.Type.Kind() != reflect.Func && !slices.Contains(noFields, name+"."+f.Name) {
			p.fields = append(p.fields, i)
		}
	}
	plans.Store(t, p)
	return p
}

func (h *hasher) structure(v reflect.Value) {
	p := planOf(v.Type())
	if p.skip {
		return
	}
	if p.item { // the bytes of its buffer that are its own
		if b := v.FieldByName("buf"); !b.IsNil() {
			h.h.Write(b.Elem().FieldByName("Bytes").Bytes()[:v.FieldByName("size").Int()])
		}
	}
	for _, i := range p.fields {
		h.value(v.Field(i))
	}
}
