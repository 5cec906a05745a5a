package connect

import (
	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
)

// Node is what a node of a transfer is opened with.
func (c *Flags) Node(w shell.World, name string) (o braid.Options, err error) {
	if o.Settings, err = c.Settings(w.ErrOut); err != nil {
		return o, err
	}
	return o, o.Settings.Default("name", name)
}
