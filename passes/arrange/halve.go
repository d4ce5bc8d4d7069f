package arrange

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/shape"
)

// The passes of the command line: regions in 16 bits wherever there is a product.
var (
	Half   = Halve("half", array.F16, nil)
	Bfloat = Halve("bfloat", array.BF16, nil)
)

// Halve makes a pass by which parts of a graph that compute in f32 compute in f16 or
// bf16: products, such as convolutions and linear layers, and the elementwise calls and
// movements after them that read nothing else of their size. Casts stand where values
// come in and go out; parameters are stored in the half type. Everything else stays in
// f32: reductions, softmax, normalisations, and where only is given, all calls for
// which it is false. Inputs and results keep their types.
//
// Results change: operands and result of each of these calls are rounded to 11 bits (f16)
// or 8 (bf16), so that a product differs by up to 3 of these roundings of the sum of
// its products' magnitudes. f16 ends at 65504. A call stays in f32, with the reason, where a
// parameter or an attribute lies beyond that, and where the call takes numbers from
// 2^-14 to 16 beyond 2048, as exp and reciprocal do; activations are for the caller to check, by
// Options.Numeric on inputs of the model.
func Halve(name string, dtype array.DType, only func(n *graph.Node) bool) passes.Pass {
	return halve(passes.Pass{
		Name: name,
		Doc:  "Computes products and what follows them in " + dtype.String() + ", with casts around.",
		Order: []passes.Before{
			{First: "conv-bn", Then: name, Why: "normalisations are folded in f32"},
			{First: "linear-bn", Then: name, Why: "normalisations are folded in f32"},
			{First: name, Then: "decompose", Why: "composite operators that sum stay in f32 as a whole"},
		},
	}, halver{dtype: dtype, only: only})
}

// Mixed makes a pass as Halve does, for a graph that is differentiated after it (Micikevicius et al., "Mixed
// Precision Training", 2018): parameters stay in f32, and the graph casts them. Their gradients are
// then in f32, those of the calls in between in the half type, as are the products of the gradient.
func Mixed(dtype array.DType) passes.Pass {
	return halve(passes.Pass{
		Name: "mixed-" + dtype.String(),
		Doc:  "Computes products and what follows them in " + dtype.String() + ", of parameters in f32.",
	}, halver{dtype: dtype, masters: true})
}

// halve runs a copy of a halver on each graph.
func halve(p passes.Pass, blank halver) passes.Pass {
	p.Run = func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		before := c.Matches()
		h := blank
		h.c, h.params, h.sharing, h.stored = c, passes.NewParams(c.Module, g), simplify.NewSharing(g), map[string]string{}
		if err := h.graph(g); err != nil {
			return false, err
		}
		if c.Matches() > before {
			c.Module.DropUnused()
		}
		return c.Matches() > before, nil
	}
	return p
}

type halver struct {
	c       *passes.Ctx
	dtype   array.DType
	only    func(n *graph.Node) bool
	masters bool // parameters stay as they are, and are cast in the graph
	params  *passes.Params
	sharing simplify.Sharing
	stored  map[string]string // paths of parameters in the half type

	// half and cast are values of f32 in the half type, in the graph at hand: computed in
	// it, and made of what was computed in f32.
	half, cast map[*graph.Node]*graph.Node
}

func (h *halver) graph(g *graph.Graph) error {
	h.half, h.cast = map[*graph.Node]*graph.Node{}, map[*graph.Node]*graph.Node{}
	var wide []*graph.Node // casts back
	for n := range g.Nodes() {
		if err := h.c.Err(); err != nil {
			return err
		}
		if !h.candidate(n) {
			continue
		}
		if why := h.refuse(n); why != "" {
			h.c.Refuse(n, why)
			continue
		}
		back, err := h.rewrite(n)
		if err != nil {
			return err
		}
		wide = append(wide, back)
	}
	for _, n := range slices.Backward(wide) {
		passes.SweepUnused([]*graph.Node{n})
	}
	for n := range g.Nodes() {
		for _, r := range n.Regions() {
			if err := h.graph(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// candidate reports whether n is a product, or an elementwise call or movement after one.
func (h *halver) candidate(n *graph.Node) bool {
	o := n.Op()
	if !n.Opcode().IsCall() || o == nil || o.AdHoc || o.Structural() || n.Effect() != op.Pure || n.Type().Kind() != shape.Tensor ||
		n.Type().DType() != array.F32 || h.only != nil && !h.only(n) {
		return false
	}
	floats, halves := 0, 0
	for _, a := range n.Args() {
		if a == nil {
			continue
		}
		switch d := a.Type().DType(); {
		case a.Type().Kind() != shape.Tensor || d == array.Invalid || d.IsFloat() && d != array.F32:
			return false
		case d == array.F32:
			floats++
		}
		if h.half[a] != nil {
			halves++
		} else if a.Type().DType() == array.F32 && a.Opcode() != graph.GetAttr && !smaller(a.Type(), n.Type()) && o.Class != op.Contraction {
			return false // it is there in f32, which would be lost
		}
	}
	return floats > 0 && (o.Class == op.Contraction || halves > 0 && (o.Scalar() || o.Class == op.Movement))
}

// smaller reports whether t is broadcast to u.
func smaller(t, u shape.Type) bool { return t.Ranked() && u.Ranked() && !t.Dims().Equal(u.Dims()) }

// refuse says why a candidate stays in f32.
func (h *halver) refuse(n *graph.Node) string {
	types := n.OperandTypes()
	if b := n.Bound(); b != nil && len(b.Params) > 0 {
		return "it is a call of a module; run functionalize first"
	}
	if why := h.sharing.Written(slices.Collect(n.Inputs())...); why != "" {
		return why
	}
	for i, a := range n.Args() {
		if a == nil || types[i].DType() != array.F32 {
			continue
		}
		types[i] = types[i].WithDType(h.dtype)
		if h.masters {
			continue // training changes them
		}
		if path, value, why := h.params.Constant(n, i); why == "" && value != nil && h.overflows(value) {
			return "parameter " + path + " has elements beyond " + h.dtype.String()
		}
	}
	for _, f := range n.Op().Codec().Fields(n.Attrs()) {
		if v, ok := number(f.Value); ok && h.beyond(v) {
			return "its attribute " + f.Name + " is beyond " + h.dtype.String()
		}
	}
	t, err := n.Op().Type(&op.Infer{Assume: func(shape.Relation) error { return nil }}, n.Attrs(), types)
	if err != nil || !t.Same(n.Type().WithDType(h.dtype)) {
		return n.Op().Name + " does not take " + h.dtype.String() + " alike"
	}
	if h.dtype == array.F16 && n.Op().Scalar() && grows(n) {
		return "it takes numbers of 16 beyond 2048, and f16 ends at 65504"
	}
	return ""
}

// number returns the value of an attribute that is a float.
func number(v any) (x float64, ok bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case op.Scalar:
		return v.Float64(), v.Present()
	}
	return 0, false
}

// beyond reports whether a finite number is none in the half type.
func (h *halver) beyond(v float64) bool {
	return !math.IsInf(v, 0) && math.IsInf(array.Float64At(array.Cast(array.FromSlice([]float64{v}, 1), h.dtype), 0), 0)
}

func (h *halver) overflows(a *array.Array) bool {
	b := array.Cast(a, h.dtype)
	for i := range a.Len() {
		if math.IsInf(array.Float64At(b, i), 0) && !math.IsInf(array.Float64At(a, i), 0) {
			return true
		}
	}
	return false
}

// grows reports whether an elementwise call makes large numbers of such as are not, or
// cannot be tried.
func grows(n *graph.Node) bool {
	probes := []float64{-16, -4, -1, -0x1p-6, -0x1p-14, 0x1p-14, 0x1p-6, 1, 4, 16}
	var in []*array.Array
	for i, a := range n.Args() {
		switch {
		case a == nil:
			in = append(in, nil)
		case a.Type().DType() != array.F32:
			in = append(in, array.New(a.Type().DType(), 1))
		default:
			dims := []int{1, 1, 1, 1}
			dims[i%4] = len(probes)
			in = append(in, array.Cast(array.FromSlice(probes, dims...), array.F32))
		}
	}
	var w kernel.Workspace
	out, err := n.Op().Eval(&w, n.Attrs(), in)
	if err != nil {
		return true
	}
	for i := range out[0].Len() {
		if !(math.Abs(array.Float64At(out[0], i)) <= 2048 || math.IsNaN(array.Float64At(out[0], i))) {
			return true
		}
	}
	return false
}

// rewrite computes n in the half type and casts the result back.
func (h *halver) rewrite(n *graph.Node) (back *graph.Node, err error) {
	c := n.Graph().Before(n)
	args := n.Args()
	for i, a := range args {
		if a != nil && a.Type().DType() == array.F32 {
			args[i] = h.narrow(c, n, i)
		}
	}
	half := c.Function(n.Op(), n.Attrs(), args...)
	passes.KeepType(half, n.Type().WithDType(h.dtype))
	back = c.Function(std.Cast, std.CastAttrs{DType: array.F32}, half)
	h.half[back] = half
	old := n.Args()
	err = h.c.Replace(n, back, "computed in "+h.dtype.String())
	passes.SweepUnused(old)
	return back, err
}

// narrow returns operand i of n in the half type: a value of the region, a parameter
// that is stored so, or a cast.
func (h *halver) narrow(c *graph.Cursor, n *graph.Node, i int) *graph.Node {
	a := n.Arg(i)
	if v := h.half[a]; v != nil {
		return v
	}
	if v := h.cast[a]; v != nil {
		return v
	}
	path, value, why := h.params.Constant(n, i)
	if why != "" || value == nil || h.masters {
		h.cast[a] = c.Function(std.Cast, std.CastAttrs{DType: h.dtype}, a)
		return h.cast[a]
	}
	if h.stored[path] == "" {
		old := h.c.Module.Param(path)
		h.stored[path] = h.c.Module.FreshPath(path + "_" + h.dtype.String())
		h.c.Module.SetParam(graph.Param{Path: h.stored[path], Value: array.Cast(value, h.dtype), Buffer: old.Buffer})
	}
	h.cast[a] = c.GetAttr(h.stored[path])
	return h.cast[a]
}
