package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/rival"
	"github.com/openbraid/braid/internal/perf"
	"github.com/openbraid/braid/internal/perf/median"
)

// joined are two network namespaces that a link for each rate joins.
func joined(rates ...string) (p place, clean func(), err error) {
	left, right := fmt.Sprintf("braid-bench-a%d", os.Getpid()), fmt.Sprintf("braid-bench-b%d", os.Getpid())
	clean = func() {
		_ = exec.Command("ip", "netns", "del", left).Run()
		_ = exec.Command("ip", "netns", "del", right).Run()
	}
	lines := []string{"ip netns add " + left, "ip netns add " + right}
	for i, rate := range rates {
		link := railName(i)
		lines = append(lines, fmt.Sprintf("ip link add %s netns %s type veth peer name %s netns %s", link, left, link, right))
		for k, ns := range []string{left, right} {
			lines = append(lines,
				fmt.Sprintf("ip -n %s addr add 10.78.%d.%d/24 dev %s", ns, i, k+1, link),
				fmt.Sprintf("ip -n %s link set %s up", ns, link),
				fmt.Sprintf("tc -n %s qdisc add dev %s root tbf rate %s burst 256kb latency 50ms", ns, link, rate))
		}
	}
	for _, l := range lines {
		words := strings.Fields(l)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			clean()
			return p, nil, fmt.Errorf("%s: %w: %s (it needs root, ip and tc)", l, err, bytes.TrimSpace(out))
		}
	}
	in := func(ns string) []string { return []string{"ip", "netns", "exec", ns} }
	return place{left: in(left), right: in(right), host: "10.78.0.2", listen: "0.0.0.0", lanes: strconv.Itoa(len(rates)), ns: left}, clean, nil
}

func railName(i int) string { return fmt.Sprintf("rail%d", i) }

// rails measure what several rails carry together, in proportion to what they carry one by one.
func (b *bench) rails(ctx context.Context, r *report) error {
	for _, k := range []struct {
		name  string
		rates []string
		run   func(context.Context, string, place) ([]duel.Row, error)
	}{
		{"1g+1g", []string{"1gbit", "1gbit"}, b.twice},
		{"1g+100m", []string{"1gbit", "100mbit"}, b.sum},
		{"cut", []string{"1gbit", "1gbit"}, b.cutOne},
	} {
		for _, test := range []string{"put_bw", "get", "am_bw", "tag_bw"} {
			name := "rails/" + test + "/" + k.name
			if !b.wants(name) {
				continue
			}
			p, clean, err := joined(k.rates...)
			if err != nil {
				r.Skipped = append(r.Skipped, name+": "+err.Error())
				return nil
			}
			fmt.Fprintf(os.Stderr, "%s ...\n", name)
			rows, err := k.run(ctx, test, p)
			clean()
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for i := range rows {
				rows[i].Name = "rails/" + test + "/" + rows[i].Name
			}
			r.Rows = append(r.Rows, rows...)
		}
	}
	return nil
}

// twice: two equal rails beside one of them.
func (b *bench) twice(ctx context.Context, test string, p place) ([]duel.Row, error) {
	var s duel.Series
	for range b.Rounds {
		both, err := b.over(ctx, test, p, "rail*")
		if err != nil {
			return nil, err
		}
		one, err := b.over(ctx, test, p, railName(0))
		if err != nil {
			return nil, err
		}
		s.Add(both, one, false)
	}
	return []duel.Row{rowOf(&s, "1g+1g", "one", duel.AtLeast(1.9))}, nil
}

// sum: two unequal rails beside the sum of both, one by one.
func (b *bench) sum(ctx context.Context, test string, p place) ([]duel.Row, error) {
	var s duel.Series
	for range b.Rounds {
		var v [3]float64
		for i, rails := range []string{"rail*", railName(0), railName(1)} {
			var err error
			if v[i], err = b.over(ctx, test, p, rails); err != nil {
				return nil, err
			}
		}
		s.Add(v[0], v[1]+v[2], false)
	}
	return []duel.Row{rowOf(&s, "1g+100m", "sum", duel.AtLeast(0.95))}, nil
}

// row is what was compared, as a row.
func rowOf(s *duel.Series, name, peer string, g duel.Goal) duel.Row {
	q := median.Of(s.Ratios)
	return duel.Row{
		Name: name, Peer: peer, Unit: "MB/s", Pairs: len(s.Ratios), Ours: median.Of(s.Ours).Median, Theirs: median.Of(s.Theirs).Median,
		Ratio: &q, Best: s.Best(duel.Comparison{}), Goal: g.String(), Verdict: g.Verdict(q.Median),
	}
}

// over measures 1 MiB, 32 under way, for a second and more, over the rails of a pattern.
func (b *bench) over(ctx context.Context, test string, p place, rails string) (float64, error) {
	n := 300
	if rails == railName(1) {
		n = 50 // a slow one
	}
	client, stop, err := b.client(ctx, p, "--json", "-t", test, "-s", "1m", "-O", "32", "-n", fmt.Sprint(n), "-w", "50", "--rails", rails, "--set", "lanes=auto")
	if err != nil {
		return 0, err
	}
	defer stop()
	out, err := client.Output()
	if err != nil {
		return 0, err
	}
	var r perf.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return 0, err
	}
	return r.Bandwidth, nil
}

// client is a perftest in one namespace, with its server in the other.
func (b *bench) client(ctx context.Context, p place, args ...string) (cmd *exec.Cmd, stop func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, rival.RunWithin)
	c := &copies{b: b}
	server := c.command(ctx, p.right, append([]string{"perftest", "--shared", "--listen", p.listen, "-p", "0"}, p.settings...)...)
	port, err := c.serve(server)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	host := p.host
	for i, a := range args { // where only another rail is to be used, that is where the server is dialed
		if a == "--rails" && args[i+1] == railName(1) {
			host = strings.Replace(host, ".0.", ".1.", 1)
		}
	}
	cmd = c.command(ctx, p.left, append([]string{"perftest", host, "-p", port, "--shared"}, args...)...)
	return cmd, func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		cancel()
	}, nil
}

// What happens to one of two rails: it is cut, it is healed, it is over; each so long after the one before.
var steps = []struct {
	after time.Duration
	link  string
}{{4 * time.Second, "down"}, {5 * time.Second, "up"}, {7 * time.Second, ""}}

const (
	settle    = 1500 * time.Millisecond // is not looked at after each step
	cutRounds = 3
)

// second is what was carried in one.
type second struct {
	end  time.Duration
	rate float64
}

// mean is the rate of the seconds from one time to another.
func mean(all []second, from, to time.Duration) float64 {
	sum, n := 0.0, 0
	for _, s := range all {
		if s.end >= from+time.Second && s.end <= to {
			sum, n = sum+s.rate, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// cutOne takes the link of one of two rails down while they are measured, and up again.
func (b *bench) cutOne(ctx context.Context, test string, p place) ([]duel.Row, error) {
	var during, after duel.Series
	for range min(b.Rounds, cutRounds) {
		one, err := b.over(ctx, test, p, railName(0))
		if err != nil {
			return nil, err
		}
		all, done, err := b.seconds(ctx, test, p)
		if err != nil {
			return nil, err
		}
		during.Add(mean(all, done[0]+settle, done[1]), one, false)
		after.Add(mean(all, done[1]+settle, done[2]), mean(all, settle, done[0]), false)
	}
	return []duel.Row{rowOf(&during, "cut", "one", duel.AtLeast(0.95)), rowOf(&after, "failback", "before", duel.AtLeast(0.95))}, nil
}

// seconds is what perftest says each second while the steps are done, and when each was.
func (b *bench) seconds(ctx context.Context, test string, p place) (all []second, done []time.Duration, err error) {
	client, stop, err := b.client(ctx, p, "-t", test, "-s", "1m", "-O", "32", "-n", "100000", "-w", "50", "--rails", "rail*", "--set", "lanes=auto")
	if err != nil {
		return nil, nil, err
	}
	defer stop()
	out, err := client.StdoutPipe()
	if err == nil {
		err = client.Start()
	}
	if err != nil {
		return nil, nil, err
	}
	begun := time.Now()
	read := make(chan []second)
	go func() { // by itself, since the system may take its time to change a link
		var all []second
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) == 8 {
				if rate, err := strconv.ParseFloat(f[4], 64); err == nil {
					all = append(all, second{time.Since(begun), rate})
				}
			}
		}
		read <- all
	}()
	for _, s := range steps {
		time.Sleep(s.after)
		if s.link != "" && err == nil {
			var said []byte
			if said, err = exec.Command("ip", "-n", p.ns, "link", "set", railName(1), s.link).CombinedOutput(); err != nil {
				err = fmt.Errorf("ip link set %s: %w: %s", s.link, err, said)
			}
		}
		done = append(done, time.Since(begun))
	}
	_ = client.Process.Kill()
	all = <-read
	_ = client.Wait()
	return all, done, err
}
