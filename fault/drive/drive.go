package drive

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/openbraid/braid/fault"
)

// Driver drives an injector in a goroutine of its own.
type Driver struct {
	inj  *fault.Injector
	now  func() time.Duration
	bell chan struct{}
	quit chan struct{}
	done chan struct{}

	hands Hands

	mu   sync.Mutex
	dead error
}

// errStopped is why a driver that was stopped is dead.
var errStopped = errors.New("it was stopped")

// Start drives inj, whose clock is now. It sets Outside; do that before the first rule.
func Start(inj *fault.Injector, now func() time.Duration) *Driver {
	d := &Driver{inj: inj, now: now, bell: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	inj.Outside = d.hands.Do
	go d.run()
	return d
}

// SetPeer names the process that "kill peer" means.
func (d *Driver) SetPeer(pid int) { d.hands.SetPeer(pid) }

// Apply gives rules to the injector. Their times count from now.
func (d *Driver) Apply(rules ...fault.Rule) {
	d.inj.Apply(rules...)
	select {
	case d.bell <- struct{}{}:
	default:
	}
}

// Stop ends all rules and the driver.
func (d *Driver) Stop() {
	d.mu.Lock()
	if d.dead == nil {
		d.dead = errStopped
		close(d.quit)
	}
	d.mu.Unlock()
	<-d.done
	_ = d.inj.Close()
}

// Dead says why the driver does not drive any more; nil while it does.
func (d *Driver) Dead() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// run ends with Stop. If it panics, which takes rules that can't be or a clock that fails, that is written down.
func (d *Driver) run() {
	defer close(d.done)
	defer func() {
		if r := recover(); r != nil {
			d.mu.Lock()
			d.dead = fmt.Errorf("it panicked: %v", r)
			d.mu.Unlock()
		}
	}()
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-d.bell:
		case <-d.quit:
			return
		}
		at := d.inj.Advance()
		t.Stop()
		if at != 0 {
			t.Reset(at - d.now())
		}
	}
}
