package litmus

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// A world can't be copied: closures know its parts by where they are. But it can be put back: keeper notes what is in each part, and
// writes it there again. What was made since then is left to the garbage collector.

// keeper keeps moments of one world, each later than the one before.
type keeper struct {
	plans   map[reflect.Type]*tracing
	parts   map[where]*part
	turn    uint32
	reached []*part // in this turn
	log     []before
	moments []moment
}

// where is a part: what is at one address depends on the type under which it is known.
type where struct {
	at unsafe.Pointer
	of reflect.Type
	n  int // of a slice; -1: it is none
}

// part is some memory, or a map.
type part struct {
	where
	copy reflect.Value // of what it was at the last moment at which it was reached: a slice, a pointer, or a map
	turn uint32
}

// before is what the copy of a part was before the moment that noted it; invalid: there was none.
type before struct {
	*part
	copy reflect.Value
}

// moment is one to which the world can be put back.
type moment struct {
	steps int
	parts []*part
	log   int
}

// tracing is how more parts are found in values of a type.
type tracing struct {
	walk   func(*keeper, unsafe.Pointer)
	points bool
}

func newKeeper() *keeper {
	return &keeper{plans: map[reflect.Type]*tracing{}, parts: map[where]*part{}}
}

// note makes a moment of what can be reached from a pointer now, after so many steps.
func (k *keeper) note(from any, steps int) {
	m := moment{steps: steps, log: len(k.log)}
	k.turn++
	k.reached = make([]*part, 0, len(k.parts))
	k.inside(reflect.ValueOf(from))
	m.parts = k.reached
	k.moments = append(k.moments, m)
}

// back puts the world back to the last moment at which it had made no more than so many steps, and returns how many.
func (k *keeper) back(steps int) int {
	for k.last().steps > steps {
		k.forget(len(k.moments) - 1)
	}
	for _, p := range k.last().parts {
		p.restore()
	}
	return k.last().steps
}

func (k *keeper) last() *moment { return &k.moments[len(k.moments)-1] }

// forget takes the moments from the i-th on away, and what they changed in the copies.
func (k *keeper) forget(i int) {
	first := k.moments[i].log
	for _, b := range slices.Backward(k.log[first:]) {
		if b.copy.IsValid() {
			b.part.copy = b.copy
		} else {
			delete(k.parts, b.where)
		}
	}
	clear(k.log[first:])
	clear(k.moments[i:])
	k.log, k.moments = k.log[:first], k.moments[:i]
}

// reach notes one part, and all that it leads to.
func (k *keeper) reach(t reflect.Type, at unsafe.Pointer, n int) {
	id := where{at, t, n}
	p := k.parts[id]
	switch {
	case p == nil:
		p = &part{where: id}
		k.parts[id] = p
		k.log = append(k.log, before{part: p})
		p.copy = p.take()
	case p.turn == k.turn:
		return
	case !p.same():
		k.log = append(k.log, before{p, p.copy})
		p.copy = p.take()
	}
	p.turn = k.turn
	k.reached = append(k.reached, p)
	if t.Kind() == reflect.Map {
		for _, v := range p.copy.Seq2() {
			k.inside(v)
		}
		return
	}
	to := k.tracing(t)
	if !to.points {
		return
	}
	size := t.Size()
	if n < 0 {
		to.reach(k, at)
	}
	for i := range n {
		to.reach(k, unsafe.Add(at, uintptr(i)*size))
	}
}

// raw is the memory of a part, or of its copy.
func (p *part) raw(at unsafe.Pointer) []byte {
	n := p.n
	if n < 0 {
		n = 1
	}
	return unsafe.Slice((*byte)(at), uintptr(n)*p.of.Size())
}

// value is the part where it is.
func (p *part) value() reflect.Value {
	switch {
	case p.of.Kind() == reflect.Map:
		return reflect.NewAt(p.of, unsafe.Pointer(&p.at)).Elem()
	case p.n >= 0:
		return reflect.SliceAt(p.of, p.at, p.n)
	}
	return reflect.NewAt(p.of, p.at)
}

// take makes a copy.
func (p *part) take() reflect.Value {
	v := p.value()
	switch v.Kind() {
	case reflect.Map:
		c := reflect.MakeMapWithSize(p.of, v.Len())
		for key, e := range v.Seq2() {
			c.SetMapIndex(key, e)
		}
		return c
	case reflect.Slice:
		c := reflect.MakeSlice(reflect.SliceOf(p.of), p.n, p.n)
		reflect.Copy(c, v)
		return c
	}
	c := reflect.New(p.of)
	c.Elem().Set(v.Elem())
	return c
}

// same says whether the part is as its copy.
func (p *part) same() bool {
	if p.of.Kind() != reflect.Map {
		return bytes.Equal(p.raw(p.at), p.raw(p.copy.UnsafePointer()))
	}
	v := p.value()
	for key, e := range p.copy.Seq2() {
		if is := v.MapIndex(key); !is.IsValid() || !is.Comparable() || !is.Equal(e) {
			return false
		}
	}
	return v.Len() == p.copy.Len()
}

// restore makes the part as its copy. What is the same is not written: it may be shared by all worlds.
func (p *part) restore() {
	if p.same() {
		return
	}
	v := p.value()
	switch v.Kind() {
	case reflect.Map:
		v.Clear()
		for key, e := range p.copy.Seq2() {
			v.SetMapIndex(key, e)
		}
	case reflect.Slice:
		reflect.Copy(v, p.copy)
	default:
		v.Elem().Set(p.copy.Elem())
	}
}

func (k *keeper) tracing(t reflect.Type) *tracing {
	p := k.plans[t]
	if p == nil {
		p = &tracing{points: points(t)}
		k.plans[t] = p
		p.walk = k.walker(t)
	}
	return p
}

// inside is what is in an interface.
func (k *keeper) inside(v reflect.Value) {
	switch {
	case !v.IsValid():
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			k.point(v.Type().Elem(), v.UnsafePointer())
		}
	case k.tracing(v.Type()).points:
		c := reflect.New(v.Type())
		c.Elem().Set(v)
		k.tracing(v.Type()).reach(k, c.UnsafePointer())
	}
}

// page is how many values of a slice are a part: of much memory little changes.
const page = 2 << 10

// constant are the types of what nobody changes, or of what is no part of the world.
var constant = []string{"litmus.hasher", "slog.Logger", "config.Config", "errors.errorString", "fmt.wrapError"}

func (k *keeper) point(to reflect.Type, at unsafe.Pointer) {
	if name := to.String(); to.Kind() == reflect.Struct && (slices.Contains(constant, name) || strings.HasPrefix(name, "fsm.Table")) {
		return
	}
	k.reach(to, at, -1)
}

// walker finds what values of a type point to; nil if they can't.
func (k *keeper) walker(t reflect.Type) func(*keeper, unsafe.Pointer) {
	switch t.Kind() {
	case reflect.Interface:
		return func(k *keeper, at unsafe.Pointer) { k.inside(reflect.NewAt(t, at).Elem().Elem()) }
	case reflect.Pointer:
		return func(k *keeper, at unsafe.Pointer) {
			if p := read[unsafe.Pointer](at); p != nil {
				k.point(t.Elem(), p)
			}
		}
	case reflect.Map:
		return func(k *keeper, at unsafe.Pointer) {
			if p := read[unsafe.Pointer](at); p != nil {
				k.reach(t, p, -1)
			}
		}
	case reflect.Slice:
		return func(k *keeper, at unsafe.Pointer) {
			s := read[header](at)
			n := s.cap // what was cut off may be used again
			if t.Elem().Size() == 1 {
				n = s.len
			}
			for i := 0; i < n; i += page {
				k.reach(t.Elem(), unsafe.Add(s.at, uintptr(i)*t.Elem().Size()), min(page, n-i))
			}
		}
	case reflect.Array:
		if !points(t) {
			return nil
		}
		e, size := k.tracing(t.Elem()), t.Elem().Size()
		return func(k *keeper, at unsafe.Pointer) {
			for i := range t.Len() {
				e.reach(k, unsafe.Add(at, uintptr(i)*size))
			}
		}
	case reflect.Struct:
		return k.fields(t)
	}
	return nil // what is in a function is never written
}

func (k *keeper) fields(t reflect.Type) func(*keeper, unsafe.Pointer) {
	var all []reaching
	for i := range t.NumField() {
		if f := t.Field(i); points(f.Type) {
			all = append(all, reaching{f.Offset, k.tracing(f.Type)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func(k *keeper, at unsafe.Pointer) {
		for _, f := range all {
			f.of.reach(k, unsafe.Add(at, f.at))
		}
	}
}

// reaching is a field that leads on. What its type leads to may not be known yet when it is found: types lead to themselves.
type reaching struct {
	at uintptr
	of *tracing
}

func (p *tracing) reach(k *keeper, at unsafe.Pointer) {
	if p.walk != nil {
		p.walk(k, at)
	}
}

// points says whether values of a type may lead to what can change.
func points(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Map, reflect.Slice:
		return true
	case reflect.Array:
		return points(t.Elem())
	case reflect.Struct:
		if slices.Contains(constant, t.String()) {
			return false
		}
		for i := range t.NumField() {
			if points(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
