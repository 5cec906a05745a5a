package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid/cmd/braid/completion"
	"github.com/openbraid/braid/cmd/braid/connect"
	"github.com/openbraid/braid/cmd/braid/demo"
	"github.com/openbraid/braid/cmd/braid/explain"
	"github.com/openbraid/braid/cmd/braid/info"
	"github.com/openbraid/braid/cmd/braid/manual"
	"github.com/openbraid/braid/cmd/braid/perftest"
	"github.com/openbraid/braid/cmd/braid/process"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/cmd/braid/transfer"
)

// commands are the sub-commands and the flags before them.
type commands struct {
	Version    kong.VersionFlag      `help:"Print the version and exit, as braid version does."`
	Demo       demo.Command          `cmd:"" help:"Lose two lanes under load, and nothing else."`
	Perftest   perftest.Command      `cmd:"" help:"Measure latency, bandwidth and message rate."`
	Send       transfer.Send         `cmd:"" help:"Send files and directories over all lanes."`
	Recv       transfer.Recv         `cmd:"" help:"Receive files and directories."`
	Info       info.Command          `cmd:"" help:"Show transports, rails, limits, and every setting with who said it."`
	Explain    explain.Command       `cmd:"" help:"Show how operations would be carried to a peer: lanes, protocols, times."`
	Inspect    process.Inspect       `cmd:"" help:"Show the endpoints, lanes and work of a running process."`
	Fault      process.Fault         `cmd:"" help:"Break things in a running process on purpose."`
	Secret     connect.SecretCommand `cmd:"" help:"Print a new secret, for both sides to have."`
	Completion completion.Command    `cmd:"" help:"Print a script that completes command lines, for bash, zsh or fish."`
	Man        manual.Command        `cmd:"" help:"Print the manual page."`
}

// Help is shown by `braid --help`.
func (*commands) Help() string {
	return `Examples:

  braid demo                              two lanes die under load, and nothing else
  braid recv incoming --listen 0.0.0.0    receive files, and on another host
  braid send photos 10.0.0.6              send some
  braid info                              what this host has
  braid perftest --spawn -t put_bw -s 1m  how fast it is here
  braid info config                       what can be set, and what is

Settings: --set keepalive=2s, BRAID_KEEPALIVE=2s, or a file; braid help info. All of this as a manual page: braid man.
`
}

func main() {
	ctx, unread := shell.UntilStopped()
	os.Exit(run(shell.World{Ctx: ctx, In: os.Stdin, Out: shell.Output{File: os.Stdout, Unread: unread}, ErrOut: shell.Output{File: os.Stderr, Unread: unread}}, os.Args[1:]))
}

// run is main with an exit status.
func run(w shell.World, args []string) int {
	var c commands
	status := -1
	parser, err := kong.New(&c,
		kong.Name("braid"),
		kong.Description("Fault-tolerant communication over several lanes."),
		kong.Vars{"version": version(), "topics": info.Topics},
		kong.Writers(w.Out, w.ErrOut),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Exit(func(code int) { status = code }),
	)
	if err != nil {
		panic(err) // the commands above are wrong
	}
	if len(args) > 0 && args[0] == completion.Word {
		if completion.Offer(w.Out, parser.Model, args[1:]) != nil {
			return shell.Failed // the shell has gone
		}
		return 0
	}
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	if len(args) == 1 && args[0] == "version" {
		args = []string{"--version"}
	}
	k, err := parse(parser, args)
	if status >= 0 {
		return status // --help or --version
	}
	if err != nil {
		fmt.Fprintf(w.ErrOut, "braid: %s\nTry: %s\n", addressed(shell.Bare(err)), helpFor(parser.Model, args))
		return shell.BadUsage
	}
	err = k.Run(w, parser.Model)
	status = w.Status(err)
	switch {
	case err == nil, status == shell.Unread, errors.Is(err, shell.ErrShown):
		return status
	}
	fmt.Fprintf(w.ErrOut, "braid: %s\n", shell.Bare(err))
	if status == shell.BadUsage {
		fmt.Fprintf(w.ErrOut, "Try: %s\n", helpFor(parser.Model, args))
	}
	return status
}

// helpFor says where the help for a wrong call is.
func helpFor(app *kong.Application, args []string) string {
	for _, c := range app.Children {
		if len(args) > 0 && args[0] == c.Name {
			return "braid " + c.Name + " --help"
		}
	}
	return "braid --help"
}

// printHelp is the parser's, with the address that stands behind the paths of send.
func printHelp(o kong.HelpOptions, k *kong.Context) error {
	var text strings.Builder
	out := k.Stdout
	k.Stdout = &text
	err := kong.DefaultHelpPrinter(o, k)
	k.Stdout = out
	if err != nil {
		return err
	}
	usage, rest, _ := strings.Cut(text.String(), "\n")
	_, err = fmt.Fprintln(out, addressed(usage)+"\n"+strings.TrimSuffix(rest, "\n"))
	return err
}

// addressed names the last of the arguments of send, which are one list to the parser, and names no word that is none: what may be left out is an empty
// one to the parser.
func addressed(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "<path> ...", "<path> ... <addr>"), `must be one of "",`, "must be one of ")
}

// version is the module's, as the go command knows it.
func version() string {
	v := "(devel)"
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		v = b.Main.Version
	}
	return fmt.Sprintf("braid %s %s/%s %s", v, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
