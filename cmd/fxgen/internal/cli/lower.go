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
