package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
)

// loweredTo lists the targets that programs can be written for, with the endings of the files.
var loweredTo = map[string]string{"xla": ".mlir"}

func (a *app) lower() *cobra.Command {
	var f flags
	var out, to string
	c := onSource("lower", "Write the program that a target would compile", "one SOURCE")
	f.sourceFlags(c)
	c.Flags().StringVar(&to, "target", "", "what the program is for: "+strings.Join(loweringTargets(), ", "))
	c.Flags().StringVar(&out, "o", "", "file to write, with the ending .mlir for xla")
	f.shapeFlag(c)
	f.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ending, ok := loweredTo[to]
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

func loweringTargets() []string {
	var names []string
	for n := range loweredTo {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
