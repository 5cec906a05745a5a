package litmus

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// hasher makes one number of everything that can be reached from some values: pointers are numbered in the order in which they are met, so
// that two worlds that differ in nothing but addresses are one state. It is what a run of everything takes longest for, so each type is
// looked at once, and its values are read where they are.
type hasher struct {
	sum    uint64
	plans  map[reflect.Type]*plan
	seen   *meetings
	hand   unsafe.Pointer // what an interface points to
	memory uintptr        // of the region: what refers to it is known by where, since its bytes follow from what was written
}

var seed = maphash.MakeSeed()

func newHasher() *hasher { return &hasher{plans: map[reflect.Type]*plan{}, seen: &meetings{}} }

// hashOf is the number of all these, and that of the first alone.
func (w *world) hashOf(roots ...any) (all, first uint64) {
	w.hasher.memory = uintptr(unsafe.Pointer(&w.region.Bytes[0]))
	return w.hasher.of(roots...)
}

func (h *hasher) of(roots ...any) (all, first uint64) {
	h.sum = 1
	h.seen.forget()
	for i, r := range roots {
		if h.inside(reflect.ValueOf(r)); i == 0 {
			first = h.sum
		}
	}
	return h.sum, first
}

// What does not decide how a run goes on: counters for people, memory that is used again, and names.
var (
	noTypes = []string{"slog.Logger", "outbox.Scratch", "outbox.Stats", "worker.Stats", "mpool.Pool", "reassembly.Pool", "sim.Config", "sim.pool", "config.Config",
		"transport.Buffer", "sync.Mutex", "atomic.Int32", "memory.Region", "memory.Table", "fsm.Table", "failover.cell"}
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

// meetings are the pointers that were met: what one points to and its first field have the same address, and are not the same.
type meetings struct {
	slots [1 << 13]struct {
		at   unsafe.Pointer
		of   *plan
		turn uint32
		n    uint32
	}
	turn, n uint32
}

func (m *meetings) forget() { m.turn, m.n = m.turn+1, 0 }

// number is that of a pointer that was met before, 0 if this is the first time.
func (m *meetings) number(at unsafe.Pointer, of *plan) uint32 {
	if m.n > uint32(len(m.slots)/2) {
		panic("more is reachable than there is room for")
	}
	i := (uint64(uintptr(at))>>3*0x9e3779b97f4a7c15 ^ of.name) >> 40
	for {
		s := &m.slots[i%uint64(len(m.slots))]
		if s.turn != m.turn {
			m.n++
			s.at, s.of, s.turn, s.n = at, of, m.turn, m.n
			return 0
		}
		if s.at == at && s.of == of {
			return s.n
		}
		i++
	}
}

// plan is how values of a type are hashed.
type plan struct {
	name uint64
	walk func(*hasher, unsafe.Pointer) // nil: there is nothing to be seen
}

func (h *hasher) plan(t reflect.Type) *plan {
	p := h.plans[t]
	if p == nil {
		p = &plan{name: maphash.String(seed, t.String())}
		h.plans[t] = p
		p.walk = h.walker(t)
	}
	return p
}

func (p *plan) value(h *hasher, at unsafe.Pointer) {
	if p.walk != nil {
		p.walk(h, at)
	}
}

// inside is what is in an interface.
func (h *hasher) inside(v reflect.Value) {
	if !v.IsValid() {
		h.number(0)
		return
	}
	p := h.plan(v.Type())
	h.number(p.name)
	if v.Kind() == reflect.Pointer {
		h.hand = v.UnsafePointer()
		p.value(h, unsafe.Pointer(&h.hand))
		return
	}
	c := reflect.New(v.Type())
	c.Elem().Set(v)
	p.value(h, c.UnsafePointer())
}

func read[T any](at unsafe.Pointer) T { return *(*T)(at) }

// walker makes the plan of a type.
func (h *hasher) walker(t reflect.Type) func(*hasher, unsafe.Pointer) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return func(h *hasher, at unsafe.Pointer) { h.number(uint64(read[uint8](at))) }
	case reflect.Int16, reflect.Uint16:
		return func(h *hasher, at unsafe.Pointer) { h.number(uint64(read[uint16](at))) }
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return func(h *hasher, at unsafe.Pointer) { h.number(uint64(read[uint32](at))) }
	case reflect.Int, reflect.Uint, reflect.Int64, reflect.Uint64, reflect.Uintptr, reflect.Float64:
		return func(h *hasher, at unsafe.Pointer) { h.number(read[uint64](at)) }
	case reflect.String:
		return func(h *hasher, at unsafe.Pointer) { h.text(read[string](at)) }
	case reflect.Interface:
		return func(h *hasher, at unsafe.Pointer) { h.inside(reflect.NewAt(t, at).Elem().Elem()) }
	case reflect.Pointer:
		return h.pointer(t)
	case reflect.Slice:
		return h.slice(t)
	case reflect.Array:
		n, size, e := t.Len(), t.Elem().Size(), h.plan(t.Elem())
		return func(h *hasher, at unsafe.Pointer) {
			for i := range n {
				e.value(h, unsafe.Add(at, uintptr(i)*size))
			}
		}
	case reflect.Map:
		return h.mapping(t)
	case reflect.Struct:
		return h.structure(t)
	}
	return nil // a function, a channel
}

func (h *hasher) pointer(t reflect.Type) func(*hasher, unsafe.Pointer) {
	to := h.plan(t.Elem())
	return func(h *hasher, at unsafe.Pointer) {
		p := read[unsafe.Pointer](at)
		if p == nil {
			h.number(0)
		} else if n := h.seen.number(p, to); n != 0 {
			h.number(uint64(n))
		} else {
			to.value(h, p)
		}
	}
}

// header is a slice.
type header struct {
	at       unsafe.Pointer
	len, cap int
}

func (h *hasher) slice(t reflect.Type) func(*hasher, unsafe.Pointer) {
	e, size := h.plan(t.Elem()), t.Elem().Size()
	switch {
	case t.Elem().Kind() == reflect.Uint8:
		return func(h *hasher, at unsafe.Pointer) {
			b := read[[]byte](at)
			if in := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - h.memory; in < slotSize*room {
				h.number(uint64(in) + 1<<32)
				h.number(uint64(len(b)))
				return
			}
			h.bytes(b)
		}
	case strings.HasSuffix(t.String(), "sim.heap"):
		return nil // the order of its array is an accident; see sim.Dues
	}
	return func(h *hasher, at unsafe.Pointer) {
		s := read[header](at)
		h.number(uint64(s.len))
		for i := range s.len {
			e.value(h, unsafe.Add(s.at, uintptr(i)*size))
		}
	}
}

// mapping are the values behind keys that can be put in order.
func (h *hasher) mapping(t reflect.Type) func(*hasher, unsafe.Pointer) {
	var compare func(a, b reflect.Value) int
	switch k := reflect.Zero(t.Key()); {
	case k.Kind() == reflect.String:
		compare = func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }
	case k.CanInt():
		compare = func(a, b reflect.Value) int { return cmp.Compare(a.Int(), b.Int()) }
	case k.CanUint():
		compare = func(a, b reflect.Value) int { return cmp.Compare(a.Uint(), b.Uint()) }
	default:
		return nil
	}
	return func(h *hasher, at unsafe.Pointer) {
		v := reflect.NewAt(t, at).Elem()
		keys := v.MapKeys()
		slices.SortFunc(keys, compare)
		h.number(uint64(len(keys)))
		for _, k := range keys {
			h.inside(k)
			h.inside(v.MapIndex(k))
		}
	}
}

var zeros [1 << 10]byte

// field is one that is looked at.
type field struct {
	at uintptr
	of *plan
}

func (h *hasher) structure(t reflect.Type) func(*hasher, unsafe.Pointer) {
	name := t.String()
	switch {
	case slices.Contains(noTypes, name), strings.HasPrefix(name, "atomic.Pointer"), strings.HasPrefix(name, "fsm.Table"):
		return nil
	case name == "order.Place":
		return tallies(t)
	}
	var fields []field
	for i := range t.NumField() {
		if f := t.Field(i); !slices.Contains(noFields, name+"."+f.Name) {
			fields = append(fields, field{f.Offset, h.plan(f.Type)})
		}
	}
	all := func(h *hasher, at unsafe.Pointer) {
		for _, f := range fields {
			f.of.value(h, unsafe.Add(at, f.at))
		}
	}
	if t.Size() < 64 || t.Size() > uintptr(len(zeros)) {
		return all
	}
	return ring(all, t.Size())
}

// ring is for what most of a ring is: nothing at all. What only looks like that, an empty slice with room, gets the same number.
func ring(all func(*hasher, unsafe.Pointer), size uintptr) func(*hasher, unsafe.Pointer) {
	var nothing uint64
	return func(h *hasher, at unsafe.Pointer) {
		before := h.sum
		h.sum = 1
		if zero := bytes.Equal(unsafe.Slice((*byte)(at), size), zeros[:size]); zero && nothing != 0 {
			h.sum = nothing
		} else if all(h, at); zero {
			nothing = h.sum
		}
		it := h.sum
		h.sum = before
		h.number(it)
	}
}

// tallies are what is in a place of the record of order: what is not 0, from its first epoch on.
func tallies(t reflect.Type) func(*hasher, unsafe.Pointer) {
	offset := func(t reflect.Type, name string) uintptr {
		f, ok := t.FieldByName(name)
		if !ok {
			panic("order.Place has no " + name)
		}
		return f.Offset
	}
	all, _ := t.FieldByName("tallies")
	each := all.Type.Elem()
	head, sum, epoch, n := offset(t, "head"), offset(t, "n"), offset(each, "epoch"), offset(each, "n")
	return func(h *hasher, at unsafe.Pointer) {
		h.number(read[uint64](unsafe.Add(at, sum)))
		s := read[header](unsafe.Add(at, all.Offset))
		for i := read[int](unsafe.Add(at, head)); i < s.len; i++ {
			one := unsafe.Add(s.at, uintptr(i)*each.Size())
			if k := read[uint32](unsafe.Add(one, n)); k > 0 {
				h.number(read[uint64](unsafe.Add(one, epoch)))
				h.number(uint64(k))
			}
		}
	}
}
