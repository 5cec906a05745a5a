package info

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/connect"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/info"
)

// Command is `braid info`.
type Command struct {
	Topic string   `arg:"" optional:"" enum:",${topics}" default:"" placeholder:"TOPIC" help:"One of ${topics}; without it, all but config."`
	Keys  []string `arg:"" optional:"" name:"key" placeholder:"KEY" complete:"keys" help:"With config: only these settings, with everything about them."`
	JSON  bool     `name:"json" help:"One JSON object, without TOPIC of everything."`

	connect.Flags `embed:""`
}

// Topics are what info knows, in the order in which it shows them.
const Topics = "build,transports,rails,devices,limits,config"

// Help is shown by `braid info --help`.
func (*Command) Help() string {
	return `Shows what this build has, what this host has, and which settings hold. With the flags of another command it shows what that command would see. Exit status 2: a setting can't be; the others are shown.

Examples:

  braid info                                 what is here
  braid info config                          each setting: value, who said it, default
  braid info config keepalive lost-after     everything about two of them
  BRAID_LANES=3 braid info config --set keepalive=2s
  braid info --json                          everything, for a program
`
}

// Run is called by the parser.
func (c *Command) Run(w shell.World) error {
	if len(c.Keys) > 0 && c.Topic != "config" {
		return shell.BadLine(fmt.Errorf("%s: only config has something to choose from", c.Keys[0]))
	}
	s := &braid.Settings{}
	wrong := c.Say(s)
	if wrong == nil {
		wrong = connect.Possible(s)
	}
	r, err := c.gather(s)
	if err != nil {
		return err
	}
	if c.JSON {
		r.Warnings = s.Warnings()
		if wrong != nil {
			r.Errors = strings.Split(wrong.Error(), "\n")
		}
		err = json.NewEncoder(w.Out).Encode(r)
	} else {
		for _, text := range s.Warnings() {
			fmt.Fprintf(w.ErrOut, "braid: warning: %s\n", text)
		}
		err = c.print(w.Out, r)
	}
	if wrong != nil {
		return shell.BadLine(wrong)
	}
	return err
}

// gather collects what was asked for.
func (c *Command) gather(s *braid.Settings) (r info.Report, err error) {
	shows := func(topic string) bool { return c.Topic == topic || c.Topic == "" && (topic != "config" || c.JSON) }
	if shows("build") {
		r.Build = info.BuildOf()
	}
	if shows("transports") {
		r.Transports = info.TransportsOf(s)
	}
	if shows("rails") {
		if r.Rails, err = info.RailsOf(s); err != nil {
			return r, fmt.Errorf("the interfaces of this host: %w", err)
		}
	}
	if shows("devices") {
		r.Devices = info.DevicesOf(s)
	}
	if shows("limits") {
		r.Limits = info.LimitsOf()
	}
	if shows("config") {
		r.Config = info.ConfigOf(s)
	}
	return r, c.choose(&r)
}

// choose leaves only the settings that were named.
func (c *Command) choose(r *info.Report) error {
	if len(c.Keys) == 0 {
		return nil
	}
	var list []info.Setting
	for _, key := range c.Keys {
		at := slices.IndexFunc(r.Config, func(s info.Setting) bool { return s.Key == key || s.Variable == key })
		if at < 0 {
			err := new(braid.Settings).Set(key, "", "") // it says which is near
			return shell.BadLine(err)
		}
		list = append(list, r.Config[at])
	}
	r.Config = list
	return nil
}

// print writes the report for people.
func (c *Command) print(out io.Writer, r info.Report) error {
	p := &printer{out: out}
	if r.Build != nil {
		p.build(r.Build)
	}
	if r.Transports != nil {
		p.transports(r.Transports)
	}
	if r.Rails != nil {
		p.rails(r.Rails)
	}
	if r.Devices != nil {
		p.devices(r.Devices)
	}
	if r.Limits != nil {
		p.limits(r.Limits)
	}
	switch {
	case len(c.Keys) > 0:
		p.full(r.Config)
	case r.Config != nil:
		p.config(r.Config)
	case c.Topic == "":
		p.part("settings")
		p.line("braid info config lists them")
	}
	return errors.Join(p.errs...)
}

// printer writes parts with a head, and tables.
type printer struct {
	out  io.Writer
	some bool // something stands above
	errs []error
}

func (p *printer) write(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format, args...); err != nil {
		p.errs = append(p.errs, err)
	}
}

func (p *printer) part(name string) {
	if p.some {
		p.write("\n")
	}
	p.some = true
	p.write("%s\n", name)
}

func (p *printer) line(format string, args ...any) { p.write("  "+format+"\n", args...) }

// table aligns all columns but the last.
func (p *printer) table(rows [][]string) {
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(t, "  %s\n", strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		p.errs = append(p.errs, err)
	}
}
