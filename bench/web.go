package main

import (
	"context"

	"github.com/openbraid/braid/bench/duel"
	"github.com/openbraid/braid/bench/web"
)

// echoWeb makes the two ends of the ping-pong (netconn.go) those of a web.Run.
const echoWeb = "BRAID_BENCH_WEB"

// againstTCP are HTTP and gRPC over streams of braid, one lane, and over TCP: programs that know of neither. Waiters of ours poll, or, as is the
// default, do so only as long as that has helped them.
func (b *bench) againstTCP() (list []duel.Comparison) {
	for _, name := range []string{"http", "grpc", "http_adaptive", "grpc_adaptive"} {
		proto, wait := name[:4], "poll"
		if len(name) > 4 {
			wait = "adaptive"
		}
		for _, c := range []duel.Comparison{{Name: name + "/lat/8", Unit: "us"}, {Name: name + "/bw/16MiB", Unit: "MB/s"}} {
			what := map[string]string{"us": "lat", "MB/s": "bw"}[c.Unit]
			c.Goal, c.Peer = duel.Goal{}, proto+" over TCP"
			c.Ours, c.Theirs = b.web(web.Run{Proto: proto, Over: "braid", What: what}, wait), b.web(web.Run{Proto: proto, Over: "tcp", What: what}, wait)
			list = append(list, c)
		}
	}
	return list
}

func (b *bench) web(r web.Run, wait string) duel.Runner {
	return func(ctx context.Context) (float64, error) {
		return b.twoEnds(ctx, echoWeb+"="+r.String(), "BRAID_WAIT="+wait)
	}
}
