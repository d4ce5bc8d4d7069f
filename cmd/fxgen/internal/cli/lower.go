package cli

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/accel"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
)

func (a *app) lower() *cobra.Command {
	var f flags
	var out, to string
	c := onSource("lower", "Write the program that a target would compile", "one SOURCE")
	f.sourceFlags(c)
	c.Flags().StringVar(&to, "target", "", "what the program is for: "+strings.Join(loweringTargets(), ", "))
	c.Flags().StringVar(&out, "o", "", "file to write, with the ending .mlir for xla, .cu for cuda and .cl for opencl")
	f.shapeFlag(c)
	f.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ending, ok := accel.Endings()[to]
		switch {
		case !ok:
			return usagef("-target %q: expected %s", to, strings.Join(loweringTargets(), ", "))
		case filepath.Ext(out) != ending:
			return usagef("lower -target %s needs -o FILE%s", to, ending)
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
