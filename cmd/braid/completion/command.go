package completion

import (
	"embed"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid/cmd/braid/shell"
)

// Command is `braid completion`.
type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish" placeholder:"SHELL" help:"bash, zsh or fish."`
}

// Help is shown by `braid completion --help`.
func (*Command) Help() string {
	return `Prints a script by which the shell completes sub-commands, flags, settings and files. The script asks braid itself what there is, so it never gets old.

Examples:

  eval "$(braid completion bash)"                 in ~/.bashrc
  eval "$(braid completion zsh)"                  in ~/.zshrc, after compinit
  braid completion fish > ~/.config/fish/completions/braid.fish
`
}

//go:embed shell
var shellScripts embed.FS

// Run is called by the parser.
func (c *Command) Run(w shell.World) error {
	b, err := shellScripts.ReadFile("shell/braid." + c.Shell)
	if err != nil {
		return fmt.Errorf("a script that was built in is not: %w", err)
	}
	_, err = w.Out.Write(b)
	return err
}

// Word is what the scripts call: braid __complete WORD..., of which the last is the one to complete.
const Word = "__complete"

// Offer writes what the last of words can become, one on each line, with what it is behind a tab. :files and :dirs stand for those of the
// system; what ends with = goes on.
func Offer(out io.Writer, app *kong.Application, words []string) error {
	for _, c := range complete(app, words) {
		if _, err := fmt.Fprintf(out, "%s\t%s\n", c.word, c.text); err != nil {
			return err
		}
	}
	return nil
}
