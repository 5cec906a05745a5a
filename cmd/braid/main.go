package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/openbraid/braid/internal/demo"
)

// Exit statuses.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 128 + int(syscall.SIGINT)
	exitUnread      = 128 + int(syscall.SIGPIPE) // nobody has read the result to its end
)

// commands are the sub-commands and the flags before them.
type commands struct {
	Version    kong.VersionFlag  `help:"Print the version and exit, as braid version does."`
	Demo       demoCommand       `cmd:"" help:"Lose two lanes under load, and nothing else."`
	Perftest   perftestCommand   `cmd:"" help:"Measure latency, bandwidth and message rate."`
	Send       sendCommand       `cmd:"" help:"Send files and directories over all lanes."`
	Recv       recvCommand       `cmd:"" help:"Receive files and directories."`
	Info       infoCommand       `cmd:"" help:"Show transports, rails, limits, and every setting with who said it."`
	Secret     secretCommand     `cmd:"" help:"Print a new secret, for both sides to have."`
	Completion completionCommand `cmd:"" help:"Print a script that completes command lines, for bash, zsh or fish."`
	Man        manCommand        `cmd:"" help:"Print the manual page."`
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

// world is what a sub-command may touch of its surroundings.
type world struct {
	ctx    context.Context
	in     io.Reader
	out    output
	errOut output
}

func main() {
	ctx, unread := untilStopped()
	os.Exit(run(world{ctx, os.Stdin, output{os.Stdout, unread}, output{os.Stderr, unread}}, os.Args[1:]))
}

// run is main with an exit status.
func run(w world, args []string) int {
	var c commands
	status := -1
	parser, err := kong.New(&c,
		kong.Name("braid"),
		kong.Description("Fault-tolerant communication over several lanes."),
		kong.Vars{"version": version(), "topics": topics},
		kong.Writers(w.out, w.errOut),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Exit(func(code int) { status = code }),
	)
	if err != nil {
		panic(err) // the commands above are wrong
	}
	if len(args) > 0 && args[0] == completeWord {
		if printCandidates(w.out, complete(parser.Model, args[1:])) != nil {
			return exitFailed // the shell has gone
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
		fmt.Fprintf(w.errOut, "braid: %s\nTry: %s\n", addressed(bare(err)), helpFor(parser.Model, args))
		return exitUsage
	}
	var wrong *demo.UsageError
	switch err := k.Run(w, parser.Model); {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE) && errors.Is(context.Cause(w.ctx), errUnread):
		return exitUnread
	case errors.Is(err, errInterrupted):
		fmt.Fprintf(w.errOut, "braid: %s\n", bare(err))
		return exitInterrupted
	case errors.Is(err, errShown):
		return exitFailed
	case errors.As(err, new(usage)):
		fmt.Fprintf(w.errOut, "braid: %s\nTry: %s\n", bare(err), helpFor(parser.Model, args))
		return exitUsage
	case errors.As(err, &wrong):
		fmt.Fprintf(w.errOut, "braid: %s\nTry: %s\n", bare(err), helpFor(parser.Model, args))
		return exitUsage
	default:
		fmt.Fprintf(w.errOut, "braid: %s\n", bare(err))
		return exitFailed
	}
}

// bare is an error without the name of the package, which is the command's too.
func bare(err error) string { return strings.TrimPrefix(err.Error(), "braid: ") }

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

// addressed names the last of the arguments of send, which are one list to the parser.
func addressed(text string) string {
	return strings.ReplaceAll(text, "<path> ...", "<path> ... <addr>")
}

// errShown: it failed, and why has been printed.
var errShown = errors.New("failed")

// version is the module's, as the go command knows it.
func version() string {
	v := "(devel)"
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		v = b.Main.Version
	}
	return fmt.Sprintf("braid %s %s/%s %s", v, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// isTerminal says whether somebody looks at an output; for colours, so a device that is none does no harm.
func isTerminal(o output) bool {
	st, err := o.file.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
