package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/lowering"
)

func (a *app) profile() *cobra.Command {
	var f flags
	var samples string
	c := onSource("profile", "Measure each kernel of the plan", "one SOURCE")
	f.sourceFlags(c)
	f.computeFlags(c)
	f.productsFlag(c)
	f.measureFlag(c)
	c.Flags().IntVar(&f.job.Repeat, "repeat", 10, "the number of runs, of which each step's median counts")
	c.Flags().StringVar(&f.job.By, "by", work.ByStep, "what is summed up: step, scope (modules) or op")
	c.Flags().IntVar(&f.job.Depth, "depth", 0, "levels of modules of a scope, 0 for all")
	c.Flags().IntVar(&f.job.Top, "top", 20, "the most rows, the slowest first, 0 for all")
	c.Flags().StringVar(&samples, "pprof", "", "file for samples of the processor with the labels scope and op, for go tool pprof")
	c.Flags().IntSliceVar(&f.job.Predict, "predict", nil, "numbers of threads, such as 4,16, for which the time is predicted from how the steps are cut for them")
	f.forceFlag(c)
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if !slices.Contains([]string{work.ByStep, work.ByScope, work.ByOp}, f.job.By) {
			return usagef("-by %s: expected step, scope or op", f.job.By)
		}
		if f.job.Depth > 0 && f.job.By != work.ByScope {
			return usagef("-depth %d is for -by scope, got -by %s", f.job.Depth, f.job.By)
		}
		for _, n := range f.job.Predict {
			if n < 1 || n > lowering.MaxThreads {
				return usagef("-predict %d: expected numbers of threads from 1 to %d", n, lowering.MaxThreads)
			}
		}
		f.engine, f.job.Samples = work.Plan, samples != ""
		res, w, err := a.job(c, &f, work.Profile, f.pipeline(), args[0])
		if err != nil {
			return err
		}
		var list []target
		for _, file := range res.Files {
			list = append(list, target{path: samples, data: file.Data})
		}
		if err := w.write(list); err != nil {
			return err
		}
		return a.say(res.Text)
	}
	return c
}
