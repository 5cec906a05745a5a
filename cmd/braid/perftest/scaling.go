package perftest

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/openbraid/braid/cmd/braid/shell"
	"github.com/openbraid/braid/internal/perf"
)

// addresses are those of a server's threads: as it said, or from one port on.
func addresses(addr string, n int) ([]string, error) {
	switch list := strings.Split(addr, ","); {
	case n == 1 || len(list) == n:
		return list, nil
	case len(list) > 1:
		return nil, fmt.Errorf("-T: %s names %d servers, for %d threads", addr, len(list), n)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	first, err := strconv.Atoi(port)
	if err != nil || first+n > 65536 {
		return nil, fmt.Errorf("-T: the threads of a server have port %s and those after it, up to 65535", port)
	}
	var list []string
	for i := range n {
		list = append(list, net.JoinHostPort(host, strconv.Itoa(first+i)))
	}
	return list, nil
}

// threadless says why a test can't have several threads, if that is asked for.
func (c *Command) threadless(test string) error {
	if c.Threads.several() && strings.HasPrefix(strings.TrimPrefix(test, "ucp_"), "stream_") {
		return errors.New("-T with a stream: its reader and writer are goroutines anyway, which any processor runs")
	}
	return nil
}

// scale runs one test with each number of threads, and prints how it grows. later is how many threads are needed by the tests after it.
func (c *Command) scale(w shell.World, addr string, t measurement, later int, p *printer) (broken bool, err error) {
	all, err := addresses(addr, c.Threads.most())
	if err != nil {
		return false, err
	}
	var list []perf.Result
	for i, n := range c.Threads.list {
		more := later
		for _, m := range c.Threads.list[i+1:] {
			more = max(more, m)
		}
		r, err := perf.RunThreads(w.Ctx, all[:n], t.Params, more)
		if err != nil {
			if n > 1 && !c.Spawn && w.Ctx.Err() == nil {
				err = fmt.Errorf("%w (does the server have -T %d?)", err, c.Threads.most())
			}
			return broken, errors.Join(err, p.scaling(t, list))
		}
		list = append(list, r)
		p.drawn.add(t.name, &r)
		broken = broken || r.Broken()
	}
	return broken, p.scaling(t, list)
}

// scaling prints a row for each number of threads.
func (p *printer) scaling(t measurement, list []perf.Result) error {
	if len(list) == 0 {
		return nil
	}
	if p.form.JSON {
		for i := range list {
			if err := p.result(&list[i]); err != nil {
				return err
			}
		}
		return nil
	}
	p.begin(t.name, t.Params)
	tw := table.NewWriter()
	tw.SetOutputMirror(p.out)
	tw.SetStyle(table.StyleLight)
	head := table.Row{"threads", "operations", "msg/s", "MB/s", "p50 us", "p99 us", "of each msg/s", "times", "of ideal"}
	first := list[0]
	for i := range list {
		r := &list[i]
		times := r.Rate / first.Rate
		ideal := 100 * times * float64(first.Threads) / float64(r.Threads)
		row := table.Row{r.Threads, p.count(float64(r.Iterations)), p.count(r.Rate), fmt.Sprintf("%.2f", r.Bandwidth), fmt.Sprintf("%.3f", r.Latency.P50), fmt.Sprintf("%.3f", r.Latency.P99),
			p.count(r.Rate / float64(r.Threads)), fmt.Sprintf("%.2f", times), fmt.Sprintf("%.0f %%", ideal)}
		if p.form.CSV {
			row = table.Row{r.Threads, r.Iterations, fmt.Sprintf("%.0f", r.Rate), fmt.Sprintf("%.2f", r.Bandwidth), r.Latency.P50, r.Latency.P99,
				fmt.Sprintf("%.0f", r.Rate/float64(r.Threads)), fmt.Sprintf("%.4f", times), fmt.Sprintf("%.1f", ideal)}
			if p.batch {
				row = append(table.Row{cell(p.name), t.Test, t.Size}, row...)
			}
		}
		tw.AppendRow(row)
	}
	if p.form.CSV {
		if !p.headed {
			if p.batch {
				fmt.Fprint(p.out, "name,test,size,")
			}
			fmt.Fprintln(p.out, "threads,operations,msg_s,mb_s,p50_us,p99_us,each_msg_s,times,of_ideal")
		}
		p.headed = true
		tw.SetOutputMirror(nil)
		fmt.Fprintln(p.out, tw.RenderCSV())
	} else {
		p.title()
		tw.AppendHeader(head)
		tw.Render()
	}
	for i := range list {
		if r := &list[i]; r.Verified && (!p.form.CSV || r.Broken()) {
			fmt.Fprintf(p.out, "%d threads verified: lost %d, doubled %d, corrupt %d, out of order %d\n", r.Threads, r.Lost, r.Doubled, r.Corrupt, r.Disorders)
		}
	}
	return nil
}
