package cli

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/accel"
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

// grad is the command of that name.
func grad(a *app) *cobra.Command {
	var f flags
	var out string
	c := onSource("grad", "Print the graph of a network's results and gradients", "one SOURCE")
	f.sourceFlags(c)
	f.weightFlags(c)
	g := &f.job.Grad
	c.Flags().StringArrayVar(&g.Wrt, "wrt", nil, "the input, parameter, or pattern of parameters such as 'encoder.*' to differentiate by (repeat); all trained parameters without it")
	c.Flags().StringVar(&g.Loss, "loss", "", "the result to differentiate, the first one without it")
	c.Flags().BoolVar(&g.Seeds, "vjp", false, "take the derivative by each result as an input, in place of a loss that is one number")
	c.Flags().BoolVar(&g.Unused, "unused", false, "give zeros for tensors that the loss does not depend on, instead of refusing them")
	c.Flags().BoolVar(&f.job.Training, "training", false, "capture the module in training mode")
	c.Flags().BoolVar(&g.Evaluation, "evaluation", false, "differentiate norms and other calls in evaluation mode as they are")
	c.Flags().BoolVar(&f.job.Positions, "positions", false, "show where each node was recorded")
	c.Flags().StringVar(&out, "o", "", "file.fx to write instead of the standard output, or a folder for the graph with its weights")
	c.Flags().StringVar(&f.seed, "seed", work.DefaultSeed, "seed of synthetic weights that have none of their own")
	f.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if g.Seeds && g.Loss != "" {
			return usagef("-loss names one result, -vjp differentiates all; give one of them")
		}
		ending := filepath.Ext(filepath.Base(out))
		if out != "" && ending != "" && ending != ".fx" && filepath.Base(out) != ending {
			return usagef("grad writes a file with the ending .fx, or a folder, got -o %s", out)
		}
		f.job.Save = out != "" && ending != ".fx"
		res, w, err := a.job(c, &f, work.Grad, nil, args[0])
		if err != nil {
			return err
		}
		if out == "" {
			return a.say(res.Text)
		}
		files := []work.File{{Name: "", Data: []byte(res.Text)}}
		if f.job.Save {
			files = res.Files
		}
		var list []target
		for _, file := range files {
			t, err := stamped(filepath.Join(out, file.Name), file.Data)
			if err != nil {
				return err
			}
			list = append(list, t)
		}
		return w.write(list)
	}
	return c
}

func (a *app) lower() *cobra.Command {
	var f flags
	var out, to string
	var most []string
	c := onSource("lower", "Write the program that a target would compile", "one SOURCE")
	f.sourceFlags(c)
	c.Flags().StringVar(&to, "target", "", "what the program is for: "+strings.Join(loweringTargets(), ", "))
	c.Flags().StringVar(&out, "o", "", "file to write, with the ending .mlir for xla, .cu for cuda and .cl for opencl")
	c.Flags().StringArrayVar(&most, "bound", nil, "SYMBOL=8 with -target xla: one program for all sizes of the symbol up to it (repeat)")
	f.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ending, ok := accel.Endings()[to]
		switch {
		case !ok:
			return usagef("-target %q: expected %s", to, strings.Join(loweringTargets(), ", "))
		case filepath.Ext(out) != ending:
			return usagef("lower -target %s needs -o FILE%s", to, ending)
		}
		if len(most) > 0 && to != accel.XLA {
			return usagef("-bound is for -target xla, programs of %s have numbers for sizes", to)
		}
		var err error
		if f.job.Bounds, err = bounds(most); err != nil {
			return err
		}
		f.job.Target = to
		res, w, err := a.job(c, &f, work.Lower, nil, args[0])
		if err != nil {
			return err
		}
		t, err := stamped(out, []byte(res.Text))
		if err != nil {
			return err
		}
		return w.write([]target{t})
	}
	return c
}

func loweringTargets() []string { return slices.Sorted(maps.Keys(accel.Endings())) }

// bounds reads the most that sizes of symbols can be.
func bounds(list []string) (map[string]int, error) {
	most := map[string]int{}
	for _, s := range list {
		name, value, _ := strings.Cut(s, "=")
		n, err := strconv.Atoi(value)
		_, twice := most[name]
		switch {
		case err != nil || name == "":
			return nil, usagef("-bound %s: expected SYMBOL=N, a symbol of the graph and the most that its size can be", s)
		case n < 2:
			return nil, usagef("-bound %s: expected 2 or more; a symbol of one size is fixed by -shape", s)
		case twice:
			return nil, usagef("-bound %s: the symbol has a bound already", s)
		}
		most[name] = n
	}
	return most, nil
}
