package kernelstyle

import "github.com/gofx-dev/gofx/codegen/gosrc"

// calls says how tests of the package call it.
func (g *pkg) calls() gosrc.Calls {
	c := gosrc.Calls{Package: g.opts.Package, File: g.opts.File, Name: g.typ, Entry: g.typ + "_Forward", Eject: g.opts.Eject,
		Make: g.maker("New"), Call: "m.Forward", Context: true, Results: g.outputs, Parts: g.outputs}
	switch g.opts.Weights {
	case WeightsExternal:
		c.Make, c.Weights = g.maker("Load"), g.opts.weightsFile()
	case WeightsGiven:
		c.Find, c.Weights = true, g.opts.weightsFile()
	}
	if len(g.kept) > 0 {
		c.State = "m.NewState()"
	}
	for i, k := range g.Inputs {
		elem := gosrc.Elem(g.Buffers[k].Type.DType()).GoString()
		c.Inputs = append(c.Inputs, gosrc.Argument{Name: g.inputs[i],
			Given: "array.Dense[" + elem + "]{Array: ARRAY}", Zeros: "array.NewDense[" + elem + "](SIZES)"})
	}
	if g.structured() {
		c.Result, c.Parts = "r", make([]string, len(g.Outputs))
		for _, t := range g.targets {
			c.Parts[t.out] = t.to.GoString()
		}
	}
	return c
}
