package std

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

func lstmSamples(g *op.Gen) []op.Sample {
	return recurrentSamples(g, LstmAttrs{}.recurrent(4, 2), func(r recurrentAttrs) any { return r.lstm() })
}

func lstmBad(g *op.Gen) []op.BadSample {
	return recurrentBad(g, LstmAttrs{}.recurrent(4, 2), func(r recurrentAttrs) any { return r.lstm() })
}

func gruSamples(g *op.Gen) []op.Sample {
	return recurrentSamples(g, GruAttrs{}.recurrent(3, 1), func(r recurrentAttrs) any { return r.lstm() })
}

func gruBad(g *op.Gen) []op.BadSample {
	return recurrentBad(g, GruAttrs{}.recurrent(3, 1), func(r recurrentAttrs) any { return r.lstm() })
}

func rnnSamples(g *op.Gen) []op.Sample {
	samples := recurrentSamples(g, RnnAttrs{}.recurrent(), func(r recurrentAttrs) any { return r.rnn("") })
	relu := recurrentSamples(g, RnnAttrs{}.recurrent(), func(r recurrentAttrs) any { return r.rnn("relu") })[0]
	relu.Name = "relu"
	return append(samples, relu)
}

func rnnBad(g *op.Gen) []op.BadSample {
	bad := recurrentBad(g, RnnAttrs{}.recurrent(), func(r recurrentAttrs) any { return r.rnn("") })
	odd := bad[0]
	odd.Name, odd.Attrs, odd.Code = "nonlinearity", RnnAttrs{Nonlinearity: "sin"}, op.BadAttr
	return append(bad, odd)
}

func recurrentSamples(g *op.Gen, r recurrentAttrs, attrs func(recurrentAttrs) any) []op.Sample {
	call := func(name string, edit func(r *recurrentAttrs), state []int, x ...int) op.Sample {
		s := r
		edit(&s)
		in := recurrentArgs(g, s, 4, x...)
		for i := range s.states {
			if state != nil {
				in[1+i] = g.Normal(state...)
			}
		}
		return op.Sample{Name: name, Attrs: attrs(s), In: in}
	}
	plain := func(*recurrentAttrs) {}
	out := []op.Sample{
		call("plain", plain, nil, 5, 2, 3),
		call("states", plain, []int{1, 2, 4}, 5, 2, 3),
		call("two layers", func(s *recurrentAttrs) { s.layers = 2 }, []int{2, 2, 4}, 5, 2, 3),
		call("three layers", func(s *recurrentAttrs) { s.layers = 3 }, nil, 3, 2, 3),
		call("bidirectional", func(s *recurrentAttrs) { s.bidirectional = true }, []int{2, 2, 4}, 5, 2, 3),
		call("two bidirectional layers, batch first", func(s *recurrentAttrs) { s.layers, s.bidirectional, s.batchFirst = 2, true, true }, []int{4, 2, 4}, 2, 5, 3),
		call("batch first", func(s *recurrentAttrs) { s.batchFirst = true }, nil, 2, 5, 3),
		call("no bias", func(s *recurrentAttrs) { s.noBias = true }, nil, 5, 2, 3),
		call("unbatched", plain, []int{1, 4}, 5, 3),
		call("one step", plain, nil, 1, 2, 3),
		call("empty batch", plain, nil, 5, 0, 3),
	}
	f64, strided := out[1], out[1]
	f64.Name, f64.In = "f64", castAll(array.F64, f64.In)
	strided.Name, strided.In = "strided", append([]*array.Array(nil), strided.In...)
	for i, a := range strided.In {
		strided.In[i] = g.Strided(a)
	}
	return append(out, f64, strided)
}

func recurrentBad(g *op.Gen, r recurrentAttrs, attrs func(recurrentAttrs) any) []op.BadSample {
	right := recurrentArgs(g, r, 4, 5, 2, 3)
	bad := func(name string, code diag.Code, at int, a *array.Array) op.BadSample {
		in := append([]*array.Array(nil), right...)
		in[at] = a
		return op.BadSample{Name: name, Attrs: attrs(r), In: in, Code: code}
	}
	w := 1 + r.states
	few := bad("a weight is missing", op.OperandCount, 0, right[0])
	few.In = few.In[:len(few.In)-1]
	layers := bad("layers", op.BadAttr, 0, right[0])
	negative := r
	negative.layers = -1
	layers.Attrs = attrs(negative)
	return []op.BadSample{
		few, layers,
		bad("features", op.SizeMismatch, 0, g.Normal(5, 2, 4)),
		bad("rank of x", op.RankMismatch, 0, g.Normal(3)),
		bad("rows of weight_hh", op.SizeMismatch, w+1, g.Normal(r.gates*4+1, 4)),
		bad("rank of a bias", op.RankMismatch, w+2, g.Normal(1, r.gates*4)),
		bad("size of h0", op.SizeMismatch, 1, g.Normal(1, 3, 4)),
		bad("rank of h0", op.RankMismatch, 1, g.Normal(2, 4)),
		bad("types", op.DTypeMismatch, w, array.Cast(right[w], array.F64)),
		bad("integers", op.DTypeMismatch, 0, g.Int(9, 5, 2, 3)),
	}
}
