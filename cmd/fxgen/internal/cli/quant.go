package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
)

func (a *app) quant() *cobra.Command {
	var f flags
	var out string
	c := onSource("quant", "Quantise a network: print the plan and the quality, write the quantised graph", "one SOURCE")
	f.sourceFlags(c)
	f.weightFlags(c)
	f.calibFlag(c, "")
	f.configFlag(c, "")
	c.Flags().BoolVar(&f.job.Report, "report", false, "print what it costs each value: signal over noise, largest error")
	c.Flags().BoolVar(&f.job.Ranked, "sensitivity", false, "print what each operator costs alone, too; takes two runs for each")
	c.Flags().BoolVar(&f.job.Plan, "plan", false, "print who asked, what is granted, and why not")
	c.Flags().StringVar(&out, "o", "", "folder for the quantised graph, which every command takes as SOURCE")
	c.Flags().BoolVar(&f.job.Strict, "strict", false, "fail unless everything that is asked for is granted")
	c.Flags().StringVar(&f.seed, "seed", work.DefaultSeed, "seed of synthetic inputs and weights that have none of their own")
	f.forceFlag(c)
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		f.job.Report = f.job.Report || f.job.Ranked
		switch {
		case out == "" && !f.job.Plan && !f.job.Report:
			return usagef("quant does nothing without -plan, -report or -o FOLDER")
		case f.json && f.job.Plan == f.job.Report:
			return usagef("-json is for the document of -plan or of -report")
		}
		f.job.Save = out != ""
		res, w, err := a.job(c, &f, work.Quant, work.Optimise(), args[0])
		if err != nil {
			return err
		}
		var files []target
		for _, file := range res.Files {
			t, err := stamped(filepath.Join(out, file.Name), file.Data)
			if err != nil {
				return err
			}
			files = append(files, t)
		}
		if err := w.write(files); err != nil {
			return err
		}
		return a.say(res.Text)
	}
	return c
}
