package connect

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/openbraid/braid"
	"github.com/openbraid/braid/cmd/braid/shell"
)

// Settings are what the file, the environment and the flags say; what of the environment is not understood is told to warn. A mistake is a
// usage error, and names all there are.
func (c *Flags) Settings(warn io.Writer) (*braid.Settings, error) {
	s := &braid.Settings{}
	err := c.Say(s)
	for _, text := range s.Warnings() {
		fmt.Fprintf(warn, "braid: warning: %s\n", text)
	}
	if err == nil {
		err = Possible(s)
	}
	if err == nil {
		err = checkRails(s, warn)
	}
	if err != nil {
		return nil, shell.BadLine(err)
	}
	return s, nil
}

// Possible says which settings can't be together, before anything is started.
func Possible(s *braid.Settings) error {
	n, err := braid.Open(braid.Options{Settings: s, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return shell.BareError(err)
	}
	return n.Close()
}

// Say notes in s what the file, the environment and the flags say. What can be said is, also if something else can't.
func (c *Flags) Say(s *braid.Settings) error {
	var errs []error
	env := os.Environ()
	without := func(name string) {
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	}
	if c.Config != "" {
		errs = append(errs, s.ReadFile(c.Config))
		without(braid.ConfigVariable)
	}
	secret, err := c.Secret()
	if err != nil || c.SecretFile != "" {
		without(secretVariable) // what is wrong with it has been said, or does not matter
	}
	errs = append(errs, err, s.ReadEnv(env))
	if err == nil && c.SecretFile != "" {
		errs = append(errs, s.Set("secret", secret.Text(), "--secret-file"))
	}
	for _, text := range c.Set {
		errs = append(errs, put(s, text))
	}
	if c.Control {
		errs = append(errs, s.Set("control", "on", "--control"))
	}
	if len(c.Rails) > 0 {
		errs = append(errs, s.Set("rails", strings.Join(c.Rails, ","), "--rails"))
	}
	return errors.Join(errs...)
}

// checkRails warns of rails that were asked for and are not there. That none can be used is an error.
func checkRails(s *braid.Settings, warn io.Writer) error {
	asked := s.Options().Rails
	if asked == nil {
		return nil
	}
	rails, err := braid.LocalRails(asked...)
	if err != nil {
		return shell.BareError(err)
	}
	var there []string
	for _, r := range rails {
		if r.Addr.IsValid() {
			there = append(there, r.Interface+" "+r.Addr.String())
		}
	}
	this := strings.Join(there, ", ")
	if !slices.ContainsFunc(rails, func(r braid.Rail) bool { return r.Usable }) {
		return fmt.Errorf("rails %s: none can be used of what this host has: %s; braid info rails says why", strings.Join(asked, ","), this)
	}
	for _, r := range rails {
		if !r.Addr.IsValid() {
			fmt.Fprintf(warn, "braid: warning: rail %s: %s; there are %s\n", r.Interface, r.Reason, this)
		}
	}
	return nil
}

// put notes one KEY=VALUE of --set.
func put(s *braid.Settings, text string) error {
	key, value, ok := strings.Cut(text, "=")
	switch key = strings.TrimSpace(key); {
	case !ok:
		return fmt.Errorf("--set %s: want KEY=VALUE, as --set keepalive=2s", key)
	case key == "secret":
		return errors.New("--set secret: others would see it in the list of processes; use --secret-file or $" + secretVariable)
	}
	return s.Set(key, strings.TrimSpace(value), "--set")
}

// Args are the flags for another process of this program, which inherits the environment.
func (c *Flags) Args() (args []string) {
	if c.SecretFile != "" {
		args = append(args, "--secret-file="+c.SecretFile)
	}
	if c.Config != "" {
		args = append(args, "--config="+c.Config)
	}
	for _, text := range c.Set {
		args = append(args, "--set="+text)
	}
	if c.Control {
		args = append(args, "--control")
	}
	if len(c.Rails) > 0 {
		args = append(args, "--rails="+strings.Join(c.Rails, ","))
	}
	return args
}
