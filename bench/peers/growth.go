package main

import (
	"context"
	"fmt"

	"github.com/openbraid/braid/internal/perf/cpu"
	"github.com/openbraid/braid/internal/perf/duo"
)

// growth is what many endpoints cost, both workers in one process and on one processor: braid alone.
type growth struct {
	Transport string  `json:"transport"`
	Endpoints int     `json:"endpoints"`
	One       float64 `json:"one_us"`         // until a message of 8 bytes is handled, over one of them
	All       float64 `json:"all_us"`         // over one after the other
	Rate      float64 `json:"one_per_s"`      // 32 under way
	RateAll   float64 `json:"all_per_s"`      // the same
	Bytes     float64 `json:"bytes_each"`     // memory of both ends
	UCX       float64 `json:"ucx_bytes_each"` // of UCX's; 0: not measured
}

// growths measures them.
func (p *peers) growths(ctx context.Context) (list []growth, err error) {
	u, built := duo.Build(ctx)
	if built == nil {
		defer u.Close()
	}
	for _, kind := range []string{"shm", "tcp"} {
		name := kind + "/endpoints"
		if !p.only.MatchString(name) {
			continue
		}
		more, err := cpu.OnThread(p.cores.A, func() ([]growth, error) { return grow(ctx, kind) })
		if err != nil {
			return append(list, more...), fmt.Errorf("%s: %w", name, err)
		}
		if built == nil {
			for i := range more {
				if more[i].Endpoints > 1 {
					if more[i].UCX, err = u.Many(ctx, map[string]string{"shm": "posix,self", "tcp": "tcp"}[kind], more[i].Endpoints-1); err != nil {
						return list, err
					}
				}
			}
		}
		list = append(list, more...)
	}
	return list, nil
}

func grow(ctx context.Context, kind string) (list []growth, err error) {
	m, err := duo.NewMany(kind)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := m.Grow(ctx, 1); err != nil {
		return nil, err
	}
	before, err := duo.Resident()
	if err != nil {
		return nil, err
	}
	for _, n := range []int{1, 10, 100, 1000} {
		if err := m.Grow(ctx, n); err != nil {
			return list, fmt.Errorf("%d endpoints: %w", n, err)
		}
		g := growth{Transport: kind, Endpoints: n}
		if after, err := duo.Resident(); err == nil && n > 1 {
			g.Bytes = float64(after-before) / float64(n-1)
		}
		m.Hop(2000, true) // warm
		g.One, g.All = m.Hop(5000, false), m.Hop(5000, true)
		g.Rate, g.RateAll = m.Rate(50_000, false), m.Rate(50_000, true)
		list = append(list, g)
	}
	return list, nil
}
