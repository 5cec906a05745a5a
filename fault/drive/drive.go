package drive

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
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

	mu     sync.Mutex
	peer   int
	downed map[string]bool // interfaces that this driver took down
	dead   error
}

// errStopped is why a driver that was stopped is dead.
var errStopped = errors.New("it was stopped")

// Start drives inj, whose clock is now. It sets Outside; do that before the first rule.
func Start(inj *fault.Injector, now func() time.Duration) *Driver {
	d := &Driver{inj: inj, now: now, bell: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}), downed: map[string]bool{}}
	inj.Outside = d.outside
	go d.run()
	return d
}

// SetPeer names the process that "kill peer" means.
func (d *Driver) SetPeer(pid int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peer = pid
}

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

// outside implements fault.Injector.Outside.
func (d *Driver) outside(r fault.Rule, begin bool) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Action == fault.Kill {
		return d.kill(r, begin)
	}
	return d.iface(r.Device, begin)
}

func (d *Driver) kill(r fault.Rule, begin bool) (int, error) {
	sig := syscall.SIGKILL
	switch {
	case r.Stop && begin:
		sig = syscall.SIGSTOP
	case r.Stop:
		sig = syscall.SIGCONT
	case !begin:
		return 0, nil
	}
	if d.peer <= 0 {
		return 0, errors.New("the peer's process is not known here: start it with --spawn")
	}
	if err := syscall.Kill(d.peer, sig); err != nil {
		return 0, fmt.Errorf("%v for process %d: %w", sig, d.peer, err)
	}
	if begin {
		return 1, nil
	}
	return 0, nil
}

func (d *Driver) iface(name string, down bool) (int, error) {
	if !down && !d.downed[name] {
		return 0, nil
	}
	was, err := setLink(name, !down)
	switch {
	case errors.Is(err, os.ErrPermission):
		return 0, fmt.Errorf("interface %s: %w: that needs CAP_NET_ADMIN", name, err)
	case err != nil:
		return 0, fmt.Errorf("interface %s: %w", name, err)
	case down && was:
		d.downed[name] = true
		return 1, nil
	}
	delete(d.downed, name)
	return 0, nil
}
