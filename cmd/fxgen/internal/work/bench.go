package work

import (
	"context"
	"runtime"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
)

func (c *captured) bench(ctx context.Context, j *Job, res *Result) error {
	in, dims, err := c.values(j)
	if err != nil {
		return err
	}
	r, err := c.noted(j, res)
	if err != nil {
		return err
	}
	defer r.close()
	b := exchange.Times{Model: c.src.Name, Engine: j.Engine, Threads: runtime.GOMAXPROCS(0), Shapes: map[string][]int{}, PeakBytes: r.peak(dims)}
	for i, n := range c.gm.Graph.Inputs() {
		if in[i] != nil {
			b.Shapes[n.Target()] = append([]int{}, in[i].Shape()...)
		}
	}
	if err := b.Measure(j.Repeat, j.MinTime, func() error { _, err := r.run(ctx, in); return err }); err != nil {
		return err
	}
	return b.Report(j.JSON, res)
}
