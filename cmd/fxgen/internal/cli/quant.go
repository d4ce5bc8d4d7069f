package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
)

func (a *app) quant() *cobra.Command {
	var f flags
	var config, out string
	var calib []string
	var plan bool
	c := &cobra.Command{
		Use:   "quant [flags] SOURCE",
		Short: "Quantise a network: print the plan, write the quantised graph",
		Args:  exactly(1, "one SOURCE"),
	}
	f.sourceFlags(c)
	f.weightFlags(c)
	f.shapeFlag(c)
	c.Flags().StringVar(&config, "config", "", "JSON file of what to quantise; without it everything, statically")
	c.Flags().StringArrayVar(&calib, "calib", nil, "FILE.npy, or NAME=FILE.npy, of inputs to calibrate with, commas between several (repeat)")
	c.Flags().BoolVar(&plan, "plan", false, "print who asked, what is granted, and why not")
	c.Flags().StringVar(&out, "o", "", "folder for the quantised graph, which every command takes as SOURCE")
	c.Flags().BoolVar(&f.job.Strict, "strict", false, "fail unless everything that is asked for is granted")
	c.Flags().StringVar(&f.seed, "seed", work.DefaultSeed, "seed of synthetic inputs and weights that have none of their own")
	f.forceFlag(c)
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if out == "" && !plan {
			return usagef("quant does nothing without -plan or -o FOLDER")
		}
		if f.json && !plan {
			return usagef("-json is for the document of -plan")
		}
		f.job.Save = out != ""
		if config != "" {
			text, err := os.ReadFile(config)
			if err != nil {
				return bad(err.Error(), "")
			}
			f.job.Config = work.Named{Name: config, Value: string(text)}
		}
		for _, list := range calib {
			for _, file := range split(list) {
				name, path, ok := strings.Cut(file, "=")
				if !ok {
					name, path = "", file
				}
				if filepath.Ext(path) != ".npy" {
					return usagef("-calib %s: expected FILE.npy or NAME=FILE.npy", file)
				}
				f.job.Calib = append(f.job.Calib, work.Named{Name: name, Value: absolute(path)})
			}
		}
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
		if !plan {
			res.Text, _, _ = strings.Cut(res.Text, "\n")
			res.Text += "\n"
		}
		return a.say(res.Text)
	}
	return c
}
