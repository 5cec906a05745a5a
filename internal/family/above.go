package family

import "sync"

// Above are the families that stand above a worker, to be told of its end. The zero value is none.
type Above struct {
	mu sync.Mutex
	of map[uint16]func(message any)
}

// Set notes who handles an id; nil: nobody any more.
func (a *Above) Set(id uint16, fn func(message any)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[uint16]func(any){}
	}
	a.of[id] = fn
}

// End tells them, by nil. They must not wait for callbacks of the worker, one of which may have closed it.
func (a *Above) End() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, fn := range a.of {
		if fn != nil {
			fn(nil)
		}
	}
	a.of = nil
}
