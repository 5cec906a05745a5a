package process

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/cmd/braid/plan"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/control"
)

// Fault is `braid fault`.
type Fault struct {
	PID  int      `arg:"" name:"pid" placeholder:"PID" help:"The process; it must have been started with --control, BRAID_CONTROL=on or Options.Control, by this user."`
	Plan []string `arg:"" placeholder:"PLAN" help:"A file, or text as cut lane=1 kind=reset for=500ms."`
	Node int      `name:"node" placeholder:"N" help:"Which of the process's nodes: each that asked for a control socket has a number, from 0 on."`
	JSON bool     `name:"json" help:"One JSON object at the end."`
}

// Help is shown by `braid fault --help`.
func (*Fault) Help() string {
	return `Breaks things in a process, below its lanes: connections are reset or fall silent, bytes come late, an interface goes down. It goes on until the plan is over; when this command ends before (Ctrl-C, where a rule has no for=), everything is undone at once. Exit status 0: every rule did something. docs/fault.md has the language.

Examples:

  braid fault 4711 cut lane=1 kind=silence for=2s
  braid fault 4711 "cut lane=random kind=reset when=whole for=10ms every=1s count=60"
  braid fault 4711 plan.txt
  braid fault 4711 iface eth1 down for=5s
`
}

// Run is called by the parser.
func (c *Fault) Run(w shell.World) error {
	p, err := plan.Read(strings.Join(c.Plan, " "))
	if err != nil {
		return shell.BadLine(err)
	}
	var last control.Reply
	end := control.Ask(w.Ctx, control.Target{PID: c.PID, Node: c.Node}, control.Request{Do: "fault", Plan: p.String()}, func(r control.Reply) error { last = r; return nil })
	if end != nil && last.Rules == nil {
		return end
	}
	idle := false
	for _, r := range last.Rules {
		idle = idle || r.Hits == 0 || r.Error != ""
	}
	if c.JSON {
		err = json.NewEncoder(w.Out).Encode(struct {
			Rules   []control.Rule `json:"rules"`
			Verdict string         `json:"verdict"`
			Early   bool           `json:"interrupted,omitempty"`
		}{last.Rules, verdict(idle), end != nil})
	} else {
		c.print(w, last.Rules)
	}
	switch {
	case end != nil:
		return end
	case idle && err == nil:
		if !c.JSON {
			fmt.Fprintln(w.ErrOut, "braid: the injector had no effect: a rule hit nothing, or could not be done")
		}
		return shell.ErrShown
	}
	return err
}

func verdict(idle bool) string {
	if idle {
		return "injector had no effect"
	}
	return "ok"
}

func (c *Fault) print(w shell.World, rules []control.Rule) {
	t := table.NewWriter()
	t.SetOutputMirror(w.Out)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"rule", "times", "in force", "hits", ""})
	for _, r := range rules {
		t.AppendRow(table.Row{r.Rule, r.Times, time.Duration(r.InForceS * 1e9).Round(time.Millisecond), r.Hits, r.Error})
	}
	t.Render()
}
