// Package golden holds the models whose module-style code is kept, as a package
// in a folder of its own, so that it is compiled, vetted, run and traced again.
// The test of package codegen writes the folders when it is run with -update.
package golden

import (
	"context"
	"strings"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// Case is one model and how it is printed.
type Case struct {
	Name    string
	Fn      any
	Opts    []fx.Option
	Inputs  [][]*tensor.Tensor
	Eager   func(in []*tensor.Tensor) []*tensor.Tensor
	Options codegen.ModuleOptions
	// Passes run before printing.
	Passes []passes.Pass
	// Policy are the options that the printed code is traced with, too.
	Policy []fx.Option
}

// All returns every case: those of package cases, and the models of this one.
func All() []Case {
	var all []Case
	for _, c := range cases.All() {
		k := Case{Name: c.Name, Fn: c.Fn, Opts: c.Opts, Inputs: c.Inputs, Eager: c.Eager}
		if !isFunc(c.Fn) {
			k.Options.Root = c.Fn
		}
		all = append(all, k)
	}
	all = append(all, own()...)
	for i := range all {
		o := &all[i].Options
		o.Package = all[i].Folder()
		o.Path = "github.com/gofx-dev/gofx/codegen/internal/golden/" + o.Package
	}
	return all
}

// Folder names the package of the case: the words of its name.
func (c Case) Folder() string {
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(c.Name), "'", ""), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "_")
}

// Capture traces the model and runs the passes.
func (c Case) Capture(ctx context.Context) (*fx.GraphModule, error) {
	gm, err := fx.Trace(ctx, c.Fn, c.Opts...)
	if err == nil && c.Passes != nil {
		_, err = passes.Run(ctx, gm.Module, c.Passes, passes.Options{})
	}
	return gm, err
}
