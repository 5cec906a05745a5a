//go:build !linux

package rc

// sleeper: there is no descriptor for several devices here, the interface must be polled.
type sleeper struct{}

func (*sleeper) open() error  { return nil }
func (*sleeper) fd() int      { return -1 }
func (*sleeper) add(int)      {}
func (*sleeper) remove(int)   {}
func (*sleeper) close() error { return nil }
