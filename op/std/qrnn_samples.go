package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

func qLstmSamples(g *op.Gen) []op.Sample { return qRecurrentSamples(g, LstmAttrs{}.recurrent(4, 2)) }

func qLstmBad(g *op.Gen) []op.BadSample { return qRecurrentBad(g, LstmAttrs{}.recurrent(4, 2)) }

func qGruSamples(g *op.Gen) []op.Sample { return qRecurrentSamples(g, GruAttrs{}.recurrent(3, 1)) }

func qGruBad(g *op.Gen) []op.BadSample { return qRecurrentBad(g, GruAttrs{}.recurrent(3, 1)) }

func qRecurrentSamples(g *op.Gen, r recurrentAttrs) []op.Sample {
	var out []op.Sample
	for _, s := range recurrentSamples(g, r, func(r recurrentAttrs) any { return r }) {
		a := s.Attrs.(recurrentAttrs)
		if s.In[0].DType() != array.F32 {
			continue
		}
		s.Attrs, s.In = a.lstm(), a.quantRecurrent(g, s.In, s.Name == "states")
		if s.Name == "strided" {
			for i, w := range s.In {
				s.In[i] = g.Strided(w)
			}
		}
		out = append(out, s)
	}
	return append(out, okCall("no steps", r.lstm(), r.quantRecurrent(g, recurrentArgs(g, r, 4, 0, 2, 3), false)...),
		okCall("wide", r.lstm(), r.quantRecurrent(g, recurrentArgs(g, r, 19, 4, 17, 35), false)...))
}

func qRecurrentBad(g *op.Gen, r recurrentAttrs) []op.BadSample {
	right := r.quantRecurrent(g, recurrentArgs(g, r, 4, 5, 2, 3), false)
	bad := func(name string, code diag.Code, at int, a *array.Array) op.BadSample {
		return badCall(code, name, r.lstm(), with(right, at, a)...)
	}
	w := 1 + r.states
	negative := r
	negative.layers = -1
	return []op.BadSample{
		badCall(op.OperandCount, "a weight is missing", r.lstm(), right[:len(right)-1]...),
		badCall(op.BadAttr, "layers", negative.lstm(), right...),
		bad("x is f64", op.DTypeMismatch, 0, array.Cast(g.Normal(5, 2, 3), array.F64)),
		bad("state is f64", op.DTypeMismatch, 1, array.Cast(g.Normal(1, 2, 4), array.F64)),
		bad("weight is f32", op.DTypeMismatch, w, array.Cast(right[w], array.F32)),
		bad("weight is u8", op.DTypeMismatch, w+2, array.Cast(right[w+2], array.U8)),
		bad("scale is f64", op.DTypeMismatch, w+1, array.Cast(right[w+1], array.F64)),
		bad("bias is f64", op.DTypeMismatch, w+4, array.Cast(right[w+4], array.F64)),
		bad("scales", op.SizeMismatch, w+3, g.Uniform(1, 2, 3)),
		bad("matrix of scales", op.RankMismatch, w+1, g.Uniform(1, 2, r.gates*4, 1)),
		bad("features", op.SizeMismatch, 0, g.Normal(5, 2, 4)),
		bad("rows of weight_hh", op.SizeMismatch, w+2, quantised(g, array.I8, r.gates*4+1, 4)),
		bad("rank of x", op.RankMismatch, 0, g.Normal(3)),
		bad("size of h0", op.SizeMismatch, 1, g.Normal(1, 3, 4)),
	}
}
