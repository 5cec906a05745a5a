package connect

import (
	"errors"
	"fmt"
	"os"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/textfile"
)

// secretVariable is the environment variable that holds a secret. There is no flag that does: others would see it in the list of processes.
const secretVariable = "BRAID_SECRET"

// SecretFlags say what the two sides are to prove to each other.
type SecretFlags struct {
	SecretFile string `placeholder:"FILE" help:"File with the secret that both sides must have, as braid secret prints it. Without it: the one in $$BRAID_SECRET, if that is set."`
}

// SettingFlags say what is set besides.
type SettingFlags struct {
	Config string   `placeholder:"FILE" help:"File of settings, lines KEY = VALUE. Without it: the one that $$BRAID_CONFIG names, if that is set."`
	Set    []string `sep:"none" placeholder:"KEY=VALUE" complete:"settings" help:"One setting, as keepalive=2s; again for more. It counts more than $$BRAID_KEEPALIVE, and that more than the file; braid info config lists all."`
}

// Flags are those of every command that listens or dials.
type Flags struct {
	SecretFlags  `embed:""`
	SettingFlags `embed:""`

	Control bool `help:"Let this user look at the process, and break things in it: braid inspect, braid fault. The same as --set control=on."`

	Rails []string `sep:"none" placeholder:"A,B" complete:"rails" help:"On what lanes are built: interfaces, addresses, networks, patterns (eth0, 10.0.0.5, 10.0.0.0/16, eth*); ! before one leaves it out. Without it: all that reach the peer; braid info rails lists them."`
}

// Secret is the one to be used; not set if neither the flag nor the environment names one. The flag counts more. A mistake is a usage error.
func (c *SecretFlags) Secret() (braid.Secret, error) {
	if c.SecretFile != "" {
		if _, err := braid.ParseSecret(c.SecretFile); err == nil {
			return braid.Secret{}, shell.BadLine(errors.New("--secret-file: this is a secret, and the name of a file with it is wanted; all users of this machine could read it: make a new one"))
		}
		s, err := readSecret(c.SecretFile)
		if err != nil {
			return s, shell.BadLine(fmt.Errorf("--secret-file %s: %w", c.SecretFile, err))
		}
		return s, nil
	}
	text, ok := os.LookupEnv(secretVariable)
	if !ok {
		return braid.Secret{}, nil
	}
	s, err := braid.ParseSecret(text)
	if err != nil {
		return s, shell.BadLine(fmt.Errorf("$%s: %w", secretVariable, shell.BareError(err)))
	}
	return s, nil
}

// Advise adds to an error about secrets that differ how a command is given one.
func Advise(err error) error {
	if !errors.Is(err, braid.ErrSecret) {
		return err
	}
	return fmt.Errorf("%w (a secret is given by --secret-file FILE, or in $%s)", err, secretVariable)
}

// secretRoom is more than any secret needs.
const secretRoom = 4096

// readSecret reads a secret from a file that nobody else can read, change or give away. It refuses others, and does not just warn: warnings of a
// program that runs in the background are not read, and a secret that all users of the machine know is none.
func readSecret(path string) (braid.Secret, error) {
	f, err := textfile.Read(path, secretRoom)
	if err != nil {
		return braid.Secret{}, err
	}
	if err := f.Private(); err != nil {
		return braid.Secret{}, err
	}
	if len(f.Text) > secretRoom {
		return braid.Secret{}, fmt.Errorf("it has more than %d bytes: one line is wanted", secretRoom)
	}
	s, err := braid.ParseSecret(string(f.Text))
	if err != nil {
		return s, shell.BareError(err)
	}
	return s, nil
}

// SecretCommand is `braid secret`.
type SecretCommand struct{}

// Help is shown by `braid secret --help`.
func (*SecretCommand) Help() string {
	return `Prints a new secret: one line, 32 random bytes. Give it to both sides, as a file with --secret-file or in $BRAID_SECRET. It proves them to each other; it encrypts nothing.

Examples:

  (umask 077; braid secret > braid.secret)       a file that only you can read
  braid perftest --listen 0.0.0.0 --secret-file braid.secret
  export BRAID_SECRET=$(braid secret)            for this shell and what it starts
`
}

// Run is called by the parser.
func (*SecretCommand) Run(w shell.World) error {
	_, err := fmt.Fprintln(w.Out, braid.NewSecret().Text())
	return err
}
