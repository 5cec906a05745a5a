package perftest

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/openbraid/braid/internal/perf/medium"
)

// idleFlags are flags that would do nothing: a figure that does not mean what its command line says is worse than none.
type idleFlags []struct {
	when  bool
	names string
	why   string
}

// idle says which flags do nothing beside the others.
func (c *Command) idle() idleFlags {
	server := c.Host == "" && !c.Spawn && !c.Matrix
	return idleFlags{
		{c.Matrix, "size layout header iters warmup window rank batch port listen spawn fault events pair-modes csv final threads plot svg", "--fault-matrix runs tests with plans of its own, and prints a table"},
		{server, "test size layout header iters warmup window rank verify batch lanes error-mode pair-modes pairs block seed null wait",
			"a server does what its client says: name the HOST to measure against, or --spawn a server here"},
		{server, "json csv final numeric plot svg", "a server prints no results, its client does"},
		{!server && !c.Matrix, "once", "it says how long a server serves, and this is its client"},
		{c.Spawn, "port", "with --spawn the server takes a port that is free"},
		{!medium.Medium(c.Transport).Has("rc") && !medium.Medium(c.Transport).Has("verbs"), "trust-network", "only with --transport rc or verbs it says something: the others prove who sends"},
		{c.PairModes, "error-mode", "with --pair-modes both modes that it compares are known: failover and none"},
		{c.PairModes, "iters", "with --pair-modes a block is as many operations as --block takes, and --pairs says how many blocks"},
		{c.PairModes, "warmup", "with --pair-modes each couple of endpoints is warmed up by blocks that do not count"},
		{c.PairModes, "rank numeric", "with --pair-modes a quotient is printed, and no such figure"},
		{c.PairModes, "threads plot svg layout", "with --pair-modes a quotient is printed, of one thread's operations"},
		{c.Fault != "", "threads", "with --fault what is broken is judged by one thread"},
		{c.JSON || c.CSV, "plot", "a plot is for people; --svg writes one beside"},
		{c.Threads.several(), "rank", "with -T the percentiles are p50 and p99"},
		{!c.PairModes, "null", "it is a check of --pair-modes"},
		{!c.PairModes, "pairs block", "it is for --pair-modes"},
		{!c.PairModes && c.Fault == "" && !c.Matrix, "seed", "it is for --pair-modes and --fault"},
		{server, "fault events fault-matrix", "a server does what its client says"},
		{!c.Matrix, "plans", "it is for --fault-matrix"},
		{c.JSON, "rank", "with --json the percentiles are p50 and p99"},
		{c.JSON || c.CSV, "numeric", "numbers for programs have no separators"},
	}
}

// check refuses what was given and does nothing.
func (l idleFlags) check(path []*kong.Path) error {
	for _, p := range path {
		if p.Flag == nil {
			continue
		}
		for _, r := range l {
			if r.when && slices.Contains(strings.Fields(r.names), p.Flag.Name) {
				return fmt.Errorf("%s has no effect here: %s", flagName(p.Flag), r.why)
			}
		}
	}
	return nil
}

// idleSettings refuses what --set says and perftest decides by flags.
func (c *Command) idleSettings() error {
	server := c.Host == "" && !c.Spawn && !c.Guard // one that was spawned has what its client was told
	for _, text := range c.Set {
		key, _, _ := strings.Cut(text, "=")
		key = strings.TrimSpace(key)
		why := ""
		switch {
		case key == "wait":
			why = "write -E poll or -E sleep"
		case key == "transports":
			why = "write --transport"
		case server && (key == "lanes" || key == "error-mode"):
			why = "a server does what its client says"
		case c.PairModes && key == "error-mode":
			why = "with --pair-modes both modes that it compares are known: failover and none"
		}
		if why != "" {
			return fmt.Errorf("--set %s has no effect here: %s", text, why)
		}
	}
	return nil
}

// said refuses numbers that are said in two ways, or are none.
func (c *Command) said(path []*kong.Path) error {
	for _, p := range path {
		if p.Flag == nil {
			continue
		}
		switch name := p.Flag.Name; {
		case name == "lanes" && (c.Lanes < 1 || c.Lanes > 16):
			return fmt.Errorf("--lanes %d: must be 1 to 16; --set lanes=auto is one for each rail that reaches the peer", c.Lanes)
		case name == "pairs" && c.Pairs == 0, name == "block" && c.Block == 0:
			return fmt.Errorf("--%s 0: must be above 0; leave it out for the default", name)
		case name == "port" && (c.Port < 0 || c.Port > 65535 || c.Host != "" && c.Port == 0):
			return fmt.Errorf("-p %d: a port is 1 to 65535, and 0 for a server that takes one that is free", c.Port)
		case name == "port" && c.Host != "":
			if _, port, err := net.SplitHostPort(c.Host); err == nil {
				return fmt.Errorf("-p %d: %s names port %s already: leave one of them out", c.Port, c.Host, port)
			}
		}
	}
	return nil
}

// flagName is a flag as people write it.
func flagName(f *kong.Flag) string {
	if f.Short != 0 {
		return "-" + string(f.Short)
	}
	return "--" + f.Name
}
