package capturefuzz

import (
	"fmt"
	"strings"
)

// writeRow is one in-place call: kinds names the element types that it is made
// for (f floats, i integers, b bool), calls its methods, of which one is chosen.
type writeRow struct {
	weight int
	kinds  string
	rank   int
	calls  []string
}

// inPlace lists the calls that take no tensor.
var inPlace = []writeRow{
	{10, "fi", 0, []string{"AddScalarInPlace(1)", "SubScalarInPlace(2)", "MulScalarInPlace(2)", "MulScalarInPlace(-1)", "AddScalarInPlace(3)"}},
	{8, "f", 0, []string{"AddScalarInPlace(0.5)", "MulScalarInPlace(0.5)", "DivScalarInPlace(4)", "MulScalarInPlace(-1.5)", "PowScalarInPlace(2)"}},
	{6, "f", 0, []string{"TanhInPlace()", "SigmoidInPlace()", "CosInPlace()", "SinInPlace()", "AtanInPlace()", "ErfInPlace()", "SoftsignInPlace()"}},
	{6, "f", 0, []string{"ReluInPlace()", "Relu6InPlace()", "SiluInPlace()", "GeluInPlace()", "HardswishInPlace()", "HardsigmoidInPlace()", "MishInPlace()",
		"LogsigmoidInPlace()", "SeluInPlace()", "EluInPlace(1)", "CeluInPlace(1)", "LeakyReluInPlace(0.1)", "SoftplusInPlace(1, 20)", "HardtanhInPlace(-1, 1)",
		"ThresholdInPlace(0.5, 0.25)"}},
	{3, "fi", 0, []string{"AbsInPlace()", "NegInPlace()", "SquareInPlace()", "SignInPlace()"}},
	{2, "f", 0, []string{"FloorInPlace()", "CeilInPlace()", "RoundInPlace()", "TruncInPlace()", "NanToNumInPlace()"}},
	{2, "f", 0, []string{"ClampInPlace(-2, 2).ExpInPlace()", "ClampInPlace(-1, 1).Expm1InPlace()", "AbsInPlace().AddScalarInPlace(0.5).LogInPlace()",
		"AbsInPlace().Log1pInPlace()", "AbsInPlace().AddScalarInPlace(1).Log2InPlace()", "AbsInPlace().SqrtInPlace()",
		"AbsInPlace().AddScalarInPlace(0.5).RsqrtInPlace()", "AbsInPlace().AddScalarInPlace(0.5).ReciprocalInPlace()", "ClampInPlace(-1, 1).TanInPlace()"}},
	{4, "fi", 0, []string{"ClampInPlace(-1, 1)", "ClampInPlace(0, nil)", "ClampInPlace(nil, 2)"}},
	{2, "fi", 0, []string{"FmodScalarInPlace(3)", "RemainderScalarInPlace(3)", "FloorDivideScalarInPlace(2)"}},
	{3, "fi", 2, []string{"TrilInPlace(0)", "TriuInPlace(0)", "TriuInPlace(1)"}},
	{6, "i", 0, []string{"BitwiseAndScalarInPlace(6)", "BitwiseOrScalarInPlace(1)", "BitwiseXorScalarInPlace(5)", "BitwiseNotInPlace()",
		"BitwiseLeftShiftScalarInPlace(1)", "BitwiseRightShiftScalarInPlace(1)"}},
	{6, "b", 0, []string{"BitwiseNotInPlace()", "BitwiseXorScalarInPlace(true)"}},
}

// inPlaceTensor lists the calls with another tensor, which stands for A, or for A
// and B.
var inPlaceTensor = []writeRow{
	{12, "fi", 0, []string{"AddInPlace(A)", "AddInPlace(A)", "SubInPlace(A)", "MulInPlace(A)", "AddInPlace(A, tensor.AddAttrs{Alpha: op.Int(2)})"}},
	{10, "fib", 0, []string{"AssignInPlace(A)"}},
	{2, "f", 0, []string{"DivInPlace(A.Abs().AddScalar(1))", "FmodInPlace(A.Abs().AddScalar(1))", "RemainderInPlace(A.Abs().AddScalar(1))",
		"FloorDivideInPlace(A.Abs().AddScalar(1))", "PowInPlace(A.Clamp(0, 2))"}},
	{3, "f", 0, []string{"LerpInPlace(A, B)", "AddcmulInPlace(A, B)", "AddcdivInPlace(A, B.Abs().AddScalar(1))"}},
	{3, "i", 0, []string{"BitwiseAndInPlace(A)", "BitwiseOrInPlace(A)", "BitwiseXorInPlace(A)", "BitwiseLeftShiftInPlace(A.Clamp(0, 3))"}},
	{5, "b", 0, []string{"BitwiseAndInPlace(A)", "BitwiseOrInPlace(A)", "BitwiseXorInPlace(A)"}},
	{3, "fi", 0, []string{"MaskedFillInPlace(A.GtScalar(0), 2)", "MaskedFillInPlace(A.LtScalar(0), 0)"}},
}

func kindOf(v *value) string {
	switch {
	case v.float():
		return "f"
	case v.integer():
		return "i"
	}
	return "b"
}

// call chooses a call for v among rows.
func (g *gen) call(v *value, rows []writeRow) string {
	total := 0
	fit := func(r writeRow) bool { return strings.Contains(r.kinds, kindOf(v)) && v.rank() >= r.rank }
	for _, r := range rows {
		if fit(r) {
			total += r.weight
		}
	}
	k := g.IntN(total)
	for _, r := range rows {
		if !fit(r) {
			continue
		}
		if k -= r.weight; k < 0 {
			return pick(g, r.calls...)
		}
	}
	return ""
}

// operand returns a value that broadcasts to v, of v's element type unless mixed.
func (g *gen) operand(v *value, mixed bool) *value {
	return g.choose(func(w *value) bool {
		return fits(w.dims, v.dims) && (w.dtype == v.dtype || mixed && w.boolean() == v.boolean())
	})
}

// input reports whether a value lies in the memory of an input.
func (g *gen) input(v *value) bool { return v.mem > 0 && v.mem <= len(g.p.Inputs) }

// writable chooses the value to write: anything but inputs, most often.
func (g *gen) writable() *value {
	return g.choose(func(v *value) bool {
		return !g.input(v) || g.chance(1)
	})
}

// write is an in-place call on v, as an expression; uses tells whether a traced
// value takes part.
func (g *gen) write(v *value) (code string, traced bool) {
	traced = !v.eager
	for range g.IntN(3) {
		if w := g.operand(v, g.chance(12)); w != nil {
			u := g.operand(v, false)
			if u == nil {
				u = w
			}
			call := g.call(v, inPlaceTensor)
			if strings.HasPrefix(call, "Assign") && !same(w.dims, v.dims) {
				continue
			}
			call = substitute(call, w.name, u.name)
			traced = traced || !w.eager || !u.eager && strings.Contains(call, u.name)
			return v.name + "." + call, traced
		}
	}
	return v.name + "." + g.call(v, inPlace), traced
}

// writes marks values that share memory with v as written by a traced value or not.
func (g *gen) writes(v *value, traced bool) {
	g.hot = v.mem
	if !traced {
		return
	}
	for _, w := range g.vals {
		if w.mem == v.mem {
			w.eager = false
		}
	}
}

// oneWrite writes a value in place; sometimes the call's result is kept, too.
func oneWrite(g *gen) bool {
	v := g.writable()
	if v == nil {
		return false
	}
	code, traced := g.write(v)
	g.writes(v, traced)
	if g.chance(15) {
		g.let("write", code, &value{dtype: v.dtype, dims: v.dims, eager: v.eager, mem: v.mem})
		return true
	}
	g.do("write", code)
	return true
}

// viewWrite writes through a view that has no name.
func viewWrite(g *gen) bool {
	v := g.writable()
	if v == nil {
		return false
	}
	code, w := g.view(v)
	if w == nil {
		return false
	}
	w.name = code
	g.place(w)
	if g.chance(25) && w.rank() > 0 {
		if deeper, u := g.view(w); u != nil {
			w = u
			w.name = deeper
		}
	}
	code, traced := g.write(w)
	g.writes(v, traced)
	g.do("view-write", code)
	return true
}

// overlap writes a value from a view of itself.
func overlap(g *gen) bool {
	v := g.choose(func(v *value) bool { return v.rank() > 0 && !g.input(v) })
	if v == nil {
		return false
	}
	k := g.IntN(v.rank())
	switch g.IntN(4) {
	case 0:
		g.do("overlap", fmt.Sprintf("%s.AssignInPlace(%s.Flip(%d))", v.name, v.name, k))
	case 1:
		if v.dims[k].least() < 2 {
			return false
		}
		g.do("overlap", fmt.Sprintf("%s.Slice(%d, 1, tensor.End).AssignInPlace(%s.Slice(%d, 0, -1))", v.name, k, v.name, k))
	case 2:
		if v.boolean() || v.dims[k].least() < 2 {
			return false
		}
		g.do("overlap", fmt.Sprintf("%s.Slice(%d, 0, -1).AddInPlace(%s.Slice(%d, 1, tensor.End))", v.name, k, v.name, k))
	case 3:
		if v.boolean() || v.rank() != 2 || v.dims[0].at != v.dims[1].at {
			return false
		}
		g.do("overlap", fmt.Sprintf("%s.AddInPlace(%s.T())", v.name, v.name))
	}
	g.hot = v.mem
	return true
}

// mixedWrite writes a result of another element type or shape, which mostly is an
// error, eagerly and captured.
func mixedWrite(g *gen) bool {
	v := g.writable()
	if v == nil {
		return false
	}
	w := g.choose(func(w *value) bool { return w != v && (w.dtype != v.dtype || !fits(w.dims, v.dims)) })
	if w == nil || v.boolean() && g.chance(50) {
		return false
	}
	if !g.chance(25) && (!fits(w.dims, v.dims) || w.float() && !v.float()) {
		return false // errors teach little
	}
	g.writes(v, !w.eager)
	g.do("mixed-write", fmt.Sprintf("%s.%s(%s)", v.name, pick(g, "AddInPlace", "MulInPlace", "AssignInPlace"), w.name))
	return true
}
