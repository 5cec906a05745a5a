//go:build linux

package shm

import (
	"strings"
	"testing"
)

func TestLifeNever(t *testing.T) {
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "endpoint is up, can't be: stands") {
			t.Errorf("panic %q", r)
		}
	}()
	ep := &endpoint{state: up}
	ep.note(evStands)
}
