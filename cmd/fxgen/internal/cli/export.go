package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
)

func (a *app) export() *cobra.Command {
	var f flags
	var out string
	c := onSource("export", "Write a network as an ONNX model", "one SOURCE")
	f.sourceFlags(c)
	f.weightFlags(c)
	c.Flags().StringVar(&out, "o", "", "file to write, with the ending .onnx")
	c.Flags().IntVar(&f.job.ONNX.Opset, "opset", 0, "operator set of the file, 17 or more; 0 is the lowest that has what the network needs")
	c.Flags().BoolVar(&f.job.ONNX.External, "external", false, "put the weights into a file next to it, with .data added to its name; weights over 2 GB always are")
	c.Flags().StringVar(&f.seed, "seed", work.DefaultSeed, "seed of synthetic weights that have none of their own")
	f.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if filepath.Ext(out) != ".onnx" {
			return usagef("export needs -o FILE.onnx")
		}
		f.job.ONNX.Name = filepath.Base(out)
		res, w, err := a.job(c, &f, work.Export, nil, args[0])
		if err != nil {
			return err
		}
		var files []target
		for _, file := range res.Files {
			t, err := stamped(filepath.Join(filepath.Dir(out), file.Name), file.Data)
			if err != nil {
				return err
			}
			files = append(files, t)
		}
		return w.write(files)
	}
	return c
}
