package fusion

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// BNAffine makes a product and a sum of batch normalisations in inference that were
// not folded into the layer before them, such as those before a convolution in
// DenseNet: x·scale + shift, of constants for each channel. Elementwise calls around
// them then join it in one step. Results are within 3 roundings of |x·scale| +
// |mean·scale| + |bias| of the normalisation's; 16-bit types, which round the product,
// are left alone.
var BNAffine = passes.Pass{Name: "bn-affine", Doc: "Makes a product and a sum of batch normalisations in inference.",
	Order: []passes.Before{{First: "bn-affine", Then: "decompose", Why: "batch_norm is composite, its decomposition is not recognised"}},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		f := &folder{c: c, params: passes.NewParams(c.Module, g)}
		for n := range g.All() {
			if n.Op() == std.BatchNorm || n.Op() == std.BatchNormInference {
				if why := f.spellOut(n); why != "" {
					c.Refuse(n, why)
				}
			}
		}
		if c.Matches() > 0 {
			c.Module.DropUnused()
		}
		return c.Matches() > 0, nil
	}}

// spellOut puts a product and a sum in the place of bn, or says why not.
func (f *folder) spellOut(bn *graph.Node) string {
	x := bn.Arg(0)
	switch {
	case passes.Training(bn):
		return "it is in training mode and normalises by the batch"
	case x == nil || !x.Type().Ranked() || x.Type().Rank() < 2:
		return "the rank of its operand is not known to be 2 or more"
	case bn.Type().DType() != array.F32 && bn.Type().DType() != array.F64:
		return "its element type is " + bn.Type().DType().String() + ", in which the product would be rounded"
	}
	norm, why := f.normalisation(bn)
	if why != "" {
		return why
	}
	shift := make([]float64, len(norm.scale))
	for i := range shift {
		shift[i] = -float64(norm.mean[i] * norm.scale[i])
		if norm.shift != nil {
			shift[i] += norm.shift[i]
		}
	}
	dims := []int{len(shift)}
	for range x.Type().Rank() - 2 {
		dims = append(dims, 1)
	}
	c := bn.Graph().Before(bn)
	constant := func(name string, v []float64) *graph.Node {
		path := f.c.Module.FreshPath(bn.Name() + "." + name)
		f.c.Module.SetParam(graph.Param{Path: path, Value: array.Cast(array.FromSlice(v, dims...), bn.Type().DType())})
		return c.GetAttr(path)
	}
	product := c.Function(std.Mul, nil, x, constant("scale", norm.scale))
	sum := c.Function(std.Add, nil, product, constant("shift", shift))
	if err := f.c.Replace(bn, sum, "a product and a sum of constants"); err != nil {
		panic(err)
	}
	return ""
}
