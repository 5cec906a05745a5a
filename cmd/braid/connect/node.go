package connect

import (
	"time"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
)

// Node is what a node of a transfer is opened with.
func (c *Flags) Node(w shell.World, name string) (o braid.Options, err error) {
	if o.Settings, err = c.Settings(w.ErrOut); err != nil {
		return o, err
	}
	if err = o.Settings.Default("name", name); err != nil {
		return o, err
	}
	o.Times.Suspended, err = time.ParseDuration(ValueOf(o.Settings, "suspended"))
	return o, err
}
