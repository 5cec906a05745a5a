package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
)

// Command is `braid man`.
type Command struct{}

// Help is shown by `braid man --help`.
func (*Command) Help() string {
	return `Prints the manual page, in roff: every sub-command with its flags and examples, settings, exit statuses.

Examples:

  braid man | man -l -                                    read it
  braid man > ~/.local/share/man/man1/braid.1             install it
`
}

// Run is called by the parser.
func (*Command) Run(w shell.World, app *kong.Application) error {
	_, err := fmt.Fprint(w.Out, manPage(app))
	return err
}

// manPage is made of the same texts as --help and docs/settings.md.
func manPage(app *kong.Application) string {
	m := &roff{}
	m.line(".TH BRAID 1")
	m.section("NAME")
	m.text("braid - " + strings.TrimSuffix(app.Help, "."))
	m.section("SYNOPSIS")
	commands := app.Leaves(true)
	for _, c := range commands {
		m.line(".br")
		m.line(".B " + escape(summary(c)))
	}
	m.section("DESCRIPTION")
	m.text("Several connections to one peer, used as one. Each is a lane. When a lane dies, the others take over what was on it: nothing is lost, nothing is done twice.")
	m.line(".PP")
	m.prose(app.Detail)
	m.section("COMMANDS")
	for _, c := range commands {
		m.line(".SS " + escape(summary(c)))
		m.text(c.Help)
		m.line(".PP")
		m.prose(c.Detail)
		for _, p := range c.Positional {
			m.item(placeholder(p), p.Help)
		}
		for _, f := range c.Flags {
			if !f.Hidden {
				m.item(flagSummary(f), f.Help)
			}
		}
	}
	m.section("SETTINGS")
	m.text("Each can be set by --set KEY=VALUE, by a variable of the environment, and by a line KEY = VALUE in the file of --config; the first of these that says something counts. In the file # begins a comment.")
	for _, s := range new(braid.Settings).List() {
		auto := ""
		if s.Auto != "" {
			auto = ": " + s.Auto
		}
		initial := s.Default
		if initial == "" {
			initial = "empty"
		}
		m.item(s.Name+", $"+s.Variable, s.Text+". A value is "+s.Grammar+auto+". Default: "+initial+".")
	}
	m.section("ENVIRONMENT")
	m.item("BRAID_CONFIG", "The file of settings, unless --config names another. None is read without being named.")
	m.item("BRAID_...", "Settings, see there. One that is none is a warning.")
	m.item("NO_COLOR", "Anything: no colours.")
	m.section("EXIT STATUS")
	for _, s := range shell.Statuses {
		m.item(s[0], s[1])
	}
	return m.String()
}

// summary is a command with its arguments and [flags], as in a synopsis.
func summary(c *kong.Node) string {
	s := "braid " + c.Path()
	for _, p := range c.Positional {
		arg := placeholder(p)
		if p.IsCumulative() {
			arg += "..."
		}
		if !p.Required {
			arg = "[" + arg + "]"
		}
		s += " " + arg
		if last := p.Tag.Get("last"); last != "" {
			s += " " + last
		}
	}
	return s + " [flags]"
}

func placeholder(v *kong.Value) string {
	if v.Tag.PlaceHolder != "" {
		return v.Tag.PlaceHolder
	}
	return strings.ToUpper(v.Name)
}

func flagSummary(f *kong.Flag) string {
	s := "--" + f.Name
	if f.Tag.Negatable != "" {
		s = "--[no-]" + f.Name
	}
	if !f.IsBool() {
		s += "=" + placeholder(f.Value)
	}
	if f.Short != 0 {
		s = "-" + string(f.Short) + ", " + s
	}
	return s
}

// roff collects the source of a manual page.
type roff struct{ strings.Builder }

func (m *roff) line(s string)       { m.WriteString(s + "\n") }
func (m *roff) section(name string) { m.line(".SH " + name) }
func (m *roff) text(s string)       { m.line(escape(shell.OneLine(s))) }

// item is a term, and what it means.
func (m *roff) item(term, meaning string) {
	m.line(".TP")
	m.line(".B " + escape(term))
	m.text(meaning)
}

// prose is a help text: paragraphs, and blocks that are indented because their lines matter.
func (m *roff) prose(text string) {
	verbatim := false
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !verbatim:
			m.line(".RS 2\n.nf")
		case !indented && verbatim && line != "":
			m.line(".fi\n.RE\n.PP")
		}
		if line != "" {
			verbatim = indented
		}
		switch {
		case line == "" && !verbatim:
			m.line(".PP")
		case line != "":
			m.line(escape(strings.TrimPrefix(line, "  ")))
		}
	}
	if verbatim {
		m.line(".fi\n.RE")
	}
}

// escape keeps roff from reading what is meant for people.
func escape(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "…", "...", "–", `\(en`, "×", `\(mu`).Replace(s)
	if strings.HasPrefix(s, ".") {
		return `\&` + s
	}
	return s
}
