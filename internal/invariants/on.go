//go:build invariants

package invariants

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
)

// deep is how many calls may be between the public one and Enter.
const deep = 8

// Solo is something that one goroutine at a time may be inside of.
type Solo struct {
	inside atomic.Uint32
	calls  [deep]atomic.Uintptr // who is inside; written by him alone, read by who panics
}

// Enter says that the calling goroutine comes in. If another is inside it panics: rule is what both have broken.
func (s *Solo) Enter(rule string) {
	var calls [deep]uintptr
	runtime.Callers(2, calls[:])
	if s.inside.Add(1) > 1 {
		s.Leave()
		s.refuse(calls, rule)
	}
	for i := range calls {
		s.calls[i].Store(calls[i])
	}
}

func (s *Solo) refuse(calls [deep]uintptr, rule string) {
	var other [deep]uintptr
	for i := range other {
		other[i] = s.calls[i].Load()
	}
	panic(fmt.Sprintf("braid: %s was called while another goroutine is in %s: %s", outermost(calls[:]), outermost(other[:]), rule))
}

// Leave says that it is out again.
func (s *Solo) Leave() { s.inside.Add(^uint32(0)) }

// Require says that what has just happened to a life, an event in a state, is possible there. If it isn't, it panics.
func Require(ok bool, life string, state, event fmt.Stringer) {
	if !ok {
		panic(fmt.Sprintf("braid: %s: %v in state %v: a mistake of the engine; please report it", life, event, state))
	}
}

// internal is in the path of each package of the module that its users can't call.
const internal = "/internal/"

// outermost is the name of the public call: the last function of the first package that users can call, or else of the first one.
func outermost(calls []uintptr) string {
	name, pkg := "another call", ""
	for frames, more := runtime.CallersFrames(calls), true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		slash := strings.LastIndexByte(f.Function, '/') + 1
		dot := strings.IndexByte(f.Function[slash:], '.')
		if dot < 0 {
			break
		}
		if next := f.Function[:slash+dot]; pkg != "" && next != pkg {
			module, _, inside := strings.Cut(pkg, internal)
			if !inside || !strings.HasPrefix(next, module) {
				break
			}
		}
		pkg, name = f.Function[:slash+dot], f.Function[slash+dot+1:]
	}
	return name
}
