package cpu

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// prober finds out which view steps have a view. What follows from identities of sizes is
// asked of layouts; where sizes decide, sample values of the symbols say whether a view is
// worth planning. That is a choice of cost alone: a step planned as a view that has none
// for the sizes of a run copies then, and one planned as a copy is right for all.
type prober struct {
	env [samples]map[string]int
	hdr [samples][]*array.Array // without memory; nil where the sizes are excluded
	at  []*op.Layout            // of each buffer for all sizes, nil where they decide
}

const samples = 4

// samplePrimes are distinct, so that sizes which differ as expressions differ.
var samplePrimes = [...]int{5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43}

// start chooses the samples: multiples of what the guards want multiples of, of
// 24 in the first and of no other small number in the others.
func (p *prober) start(symbols []guard.Symbol, relations guard.Relations) {
	factor := [samples]int{24, 1, 7*11 + 2, 1}
	for k := range p.env {
		p.env[k] = map[string]int{}
		for i, s := range symbols {
			n := factor[k] * samplePrimes[(i+5*k)%len(samplePrimes)]
			p.env[k][s.Name] = relations.Of(s.Name).Near(n)
		}
		relations.Admit(p.env[k]) // as for guards of one symbol, kernels refuse what is left
	}
}

// dense adds a contiguous buffer.
func (p *prober) dense(t shape.Type) {
	at := op.InOrder(t.Dims())
	p.at = append(p.at, &at)
	for k := range p.hdr {
		p.hdr[k] = append(p.hdr[k], p.sized(k, t))
	}
}

// sized returns a header for a sample, nil where the type has no such sizes.
func (p *prober) sized(k int, t shape.Type) *array.Array {
	dims := make([]int, t.Rank())
	for i := range dims {
		n, err := t.Dim(i).Eval(plan.Values(p.env[k]))
		if err != nil || n < 0 {
			return nil
		}
		dims[i] = n
	}
	if !array.Countable(t.DType(), dims) {
		return nil
	}
	a := &array.Array{}
	a.Reset(t.DType(), dims)
	return a
}

// gaps reports whether a buffer may have gaps for some sizes.
func (p *prober) gaps(buffer int) bool { return p.at[buffer] == nil || !p.at[buffer].IsInOrder() }

// view reports whether the step's results are views, for all sizes or for all samples that
// have sizes, of which there must be one, and lays them out as such. result has the types of
// the buffers.
func (p *prober) view(st *plan.Step, result func(buffer int) shape.Type) bool {
	if _, ok := st.Kernel.(kernel.Viewer); !ok {
		return false
	}
	out, truth := p.layout(st, result)
	if truth == shape.False || !p.sampled(st) {
		return false
	}
	for i, o := range st.Out {
		p.at[o] = nil
		if truth == shape.True {
			p.at[o] = &out[i]
		}
	}
	return true
}

// layout is that of the results over the memory of the first operand.
func (p *prober) layout(st *plan.Step, result func(buffer int) shape.Type) ([]op.Layout, shape.Truth) {
	from := p.at[st.In[0]]
	if from == nil {
		return nil, shape.Open
	}
	dims := make([]shape.Dims, len(st.Out))
	for i, o := range st.Out {
		dims[i] = result(o).Dims()
	}
	out, truth, _ := op.StepLayout(st.Kernel, dims, *from)
	return out, truth
}

// sampled reports whether the step has views for all samples that have sizes, of which
// there must be one.
func (p *prober) sampled(st *plan.Step) bool {
	var laid [samples][]*array.Array
	tried := false
	for k := range p.hdr {
		unsized := func(i int) bool { return i >= 0 && p.hdr[k][i] == nil }
		if slices.ContainsFunc(st.Out, unsized) || slices.ContainsFunc(st.In, unsized) {
			continue
		}
		step, fields, err := st.Instance()
		if err != nil {
			return false
		}
		for i, f := range st.Sizes {
			if *fields[i], err = f.Size.Eval(plan.Values(p.env[k])); err != nil {
				return false
			}
		}
		if laid[k] = p.try(k, step.(kernel.Viewer), st.In, st.Out); laid[k] == nil {
			return false
		}
		tried = true
	}
	for k := range p.hdr {
		for i, o := range st.Out {
			p.hdr[k][o] = nil
			if laid[k] != nil {
				p.hdr[k][o] = laid[k][i]
			}
		}
	}
	return tried
}

// try returns the layouts of views, nil when there are none. Sample sizes that a
// guard excludes make kernels refuse, which means no.
func (p *prober) try(k int, v kernel.Viewer, operands, results []int) (views []*array.Array) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(*diag.Error); !ok {
				panic(r)
			}
			views = nil
		}
	}()
	in := make([]*array.Array, len(operands))
	for i, o := range operands {
		if o >= 0 {
			in[i] = p.hdr[k][o]
		}
	}
	dst := make([]*array.Array, len(results))
	for i, o := range results {
		want := p.hdr[k][o]
		dst[i] = &array.Array{}
		dst[i].Reset(want.DType(), want.Shape())
	}
	if !v.View(dst, in) {
		return nil
	}
	return dst
}
