package process

import (
	"encoding/json"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/control"
	"github.com/openbraid/braid/internal/inspect"
)

// Inspect is `braid inspect`.
type Inspect struct {
	PID  int  `arg:"" name:"pid" placeholder:"PID" help:"The process; it must have been started with --control, BRAID_CONTROL=on or Options.Control, by this user."`
	Node int  `name:"node" placeholder:"N" help:"Which of the process's nodes: each that asked for a control socket has a number, from 0 on."`
	JSON bool `name:"json" help:"One JSON object."`
}

// Help is shown by `braid inspect --help`.
func (*Inspect) Help() string {
	return `Shows what a process has under way: workers, endpoints, lanes with their positions, exchanges about lost lanes, paths that wait to be dialed, fences, credits, timers. The same is logged when a deadline expires (--set log=warn). No key and no byte of data is in it.

Examples:

  braid inspect 4711
  braid inspect 4711 --json | jq '.workers[].endpoints[].lanes'
`
}

// Run is called by the parser.
func (c *Inspect) Run(w shell.World) error {
	type reply struct {
		State inspect.Process `json:"state"`
	}
	return control.Ask(w.Ctx, control.Target{PID: c.PID, Node: c.Node}, control.Request{Do: "inspect"}, func(r reply) error {
		if c.JSON {
			return json.NewEncoder(w.Out).Encode(r.State)
		}
		r.State.Print(w.Out)
		return nil
	})
}
