package sleep

import (
	"sync"
	"time"
)

// Relief is for calls that take their time: whoever runs them makes no progress meanwhile, and others may wait for some. Who
// polls needs none, since the keeper comes when polling stops. When the keeper itself runs them, a timer calls somebody else.
type Relief struct {
	Role     sync.Mutex     // of who sleeps until something arrives
	After    *time.Timer    // calls who stands in
	Running  sync.WaitGroup // he has not ended
	standing bool           // somebody stands in; under the worker's lock, as the rest isn't
}

// StandIn sleeps and makes progress in place of somebody whose callbacks take their time, as long as that is wanted, which is asked under the
// worker's lock.
func (r *Relief) StandIn(worker *sync.Mutex, wanted func() bool, turn func()) {
	worker.Lock()
	if r.standing || !wanted() {
		worker.Unlock()
		return
	}
	r.standing = true
	r.Running.Add(1)
	defer r.Running.Done()
	for wanted() {
		worker.Unlock()
		turn()
		worker.Lock()
	}
	r.standing = false
	worker.Unlock()
}
