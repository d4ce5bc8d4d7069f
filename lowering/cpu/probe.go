package cpu

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// prober lays buffers out for sample values of the symbols, to see which view
// steps have a view. Strides are what matters, so the headers have no memory.
type prober struct {
	env [2]map[string]int
	hdr [2][]*array.Array
}

// samplePrimes are distinct, so that sizes which differ as expressions differ.
// Times 24 they divide by what heads, groups and pooling divide sizes by.
var samplePrimes = [...]int{5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43}

func (p *prober) start(symbols []plan.Symbol) {
	for k := range p.env {
		p.env[k] = map[string]int{}
		for i, s := range symbols {
			p.env[k][s.Name] = 24 * samplePrimes[(i+5*k)%len(samplePrimes)]
		}
	}
}

// dense adds a contiguous buffer.
func (p *prober) dense(t shape.Type) {
	for k := range p.hdr {
		a := &array.Array{}
		dims := make([]int, t.Rank())
		for i := range dims {
			n, err := t.Dim(i).Eval(plan.Values(p.env[k]))
			if err != nil || n < 0 {
				n = 0
			}
			dims[i] = n
		}
		a.Reset(t.DType(), dims)
		p.hdr[k] = append(p.hdr[k], a)
	}
}

// view reports whether the step's results are views for all samples, and lays
// them out as such.
func (p *prober) view(st *plan.Step) bool {
	if _, ok := st.Kernel.(kernel.Viewer); !ok {
		return false
	}
	var laid [2][]*array.Array
	for k := range p.hdr {
		step, set, err := st.Instance()
		if err != nil {
			return false
		}
		for i, f := range st.Fields {
			n, err := f.Expr.Eval(plan.Values(p.env[k]))
			if err != nil {
				return false
			}
			plan.Store(set[i], n)
		}
		if laid[k] = p.try(k, step.(kernel.Viewer), st.In, st.Out); laid[k] == nil {
			return false
		}
	}
	for k := range p.hdr {
		for i, o := range st.Out {
			p.hdr[k][o] = laid[k][i]
		}
	}
	return true
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
