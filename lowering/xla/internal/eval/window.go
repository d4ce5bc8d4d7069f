package eval

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

func reduce(m *machine, o *stablehlo.Op, in []tensor) ([]tensor, error) {
	n, dims := len(in)/2, o.Ints("dimensions")
	out := starts(o, in)
	acc := make([]uint64, 2*n)
	i := -1
	var failed error
	each(in[0].t.Dims, func(at []int) {
		i++
		_, left := apart(at, dims)
		p := flat(out[0].t.Dims, left)
		for k := range n {
			acc[k], acc[n+k] = out[k].v[p], in[k].v[i]
		}
		v, err := m.scalars(o.Regions[0], acc)
		if err != nil {
			failed = err
			return
		}
		for k := range n {
			out[k].v[p] = v[k]
		}
	})
	return out, failed
}

// starts returns results that hold the init values everywhere.
func starts(o *stablehlo.Op, in []tensor) []tensor {
	var out []tensor
	for k, r := range o.Results {
		t := newTensor(r.Type)
		for i := range t.v {
			t.v[i] = in[len(in)/2+k].v[0]
		}
		out = append(out, t)
	}
	return out
}

// source returns the element of n that place k of a window at position p sees; ok is false in
// paddings and between the elements of a dilated base.
func source(w stablehlo.Window, n, p, k int) (at int, ok bool) {
	at = p*w.Stride + k*w.Dilation - w.Lo
	if at < 0 || at%w.Base != 0 {
		return 0, false
	}
	at /= w.Base
	return at, at < n
}

func reduceWindow(m *machine, o *stablehlo.Op, in []tensor) ([]tensor, error) {
	n, x := len(in)/2, in[0].t
	ws, err := stablehlo.ReduceWindows(o)
	if err != nil {
		return nil, err
	}
	out := starts(o, in)
	acc := make([]uint64, 2*n)
	src := make([]int, x.Rank())
	p := -1
	var failed error
	each(out[0].t.Dims, func(at []int) {
		p++
		each(o.Ints("window_dimensions"), func(k []int) {
			for d := range src {
				var ok bool
				if src[d], ok = source(ws[d], x.Dims[d], at[d], k[d]); !ok {
					return // paddings are init values, which change nothing
				}
			}
			i := flat(x.Dims, src)
			for j := range n {
				acc[j], acc[n+j] = out[j].v[p], in[j].v[i]
			}
			v, err := m.scalars(o.Regions[0], acc)
			if err != nil {
				failed = err
				return
			}
			for j := range n {
				out[j].v[p] = v[j]
			}
		})
	})
	return out, failed
}

// sum accumulates products: floats in float64, integers modulo 2^64.
type sum struct {
	d array.DType
	f float64
	n uint64
}

func (s *sum) add(x, y uint64) {
	if s.d.IsFloat() {
		s.f += float64(toFloat(s.d, x) * toFloat(s.d, y))
	} else {
		s.n += x * y
	}
}

func (s *sum) value(d array.DType) uint64 {
	if d.IsFloat() {
		return stablehlo.FloatBits(d, s.f)
	}
	return wrap(d, s.n)
}

func dot(o *stablehlo.Op, in []tensor) tensor {
	l, r, d := in[0], in[1], o.Get("dot_dimension_numbers").(stablehlo.Dot)
	out := newTensor(o.Results[0].Type)
	var inner []int
	for _, c := range d.LhsContract {
		inner = append(inner, l.t.Dims[c])
	}
	lhs, rhs := make([]int, l.t.Rank()), make([]int, r.t.Rank())
	lbound, rbound := slices.Concat(d.LhsBatch, d.LhsContract), slices.Concat(d.RhsBatch, d.RhsContract)
	p := -1
	each(out.t.Dims, func(at []int) {
		p++
		at = at[:len(at):len(at)]
		for i := range d.LhsBatch {
			lhs[d.LhsBatch[i]], rhs[d.RhsBatch[i]] = at[i], at[i]
		}
		at = at[len(d.LhsBatch):]
		for i := range lhs {
			if !slices.Contains(lbound, i) {
				lhs[i], at = at[0], at[1:]
			}
		}
		for i := range rhs {
			if !slices.Contains(rbound, i) {
				rhs[i], at = at[0], at[1:]
			}
		}
		s := sum{d: l.t.Elem}
		each(inner, func(k []int) {
			for i := range k {
				lhs[d.LhsContract[i]], rhs[d.RhsContract[i]] = k[i], k[i]
			}
			s.add(l.v[flat(l.t.Dims, lhs)], r.v[flat(r.t.Dims, rhs)])
		})
		out.v[p] = s.value(out.t.Elem)
	})
	return out
}

func convolution(o *stablehlo.Op, in []tensor) tensor {
	x, w, d := in[0], in[1], o.Get("dimension_numbers").(stablehlo.Conv)
	ws, _ := stablehlo.ConvWindows(o) // verified
	turned, _ := o.Get("window_reversal").(stablehlo.Bools)
	out := newTensor(o.Results[0].Type)
	fg, bg := o.Int("feature_group_count"), o.Int("batch_group_count")
	features, batches := w.t.Dims[d.Kernel[0]], x.t.Dims[d.Input[0]]/bg
	taps := []int{w.t.Dims[d.Kernel[1]]}
	for _, win := range ws {
		taps = append(taps, win.Size)
	}
	src, tap := make([]int, x.t.Rank()), make([]int, x.t.Rank())
	p := -1
	each(out.t.Dims, func(at []int) {
		p++
		f := at[d.Output[1]]
		tap[d.Kernel[0]] = f
		src[d.Input[0]] = at[d.Output[0]] + f/(features/bg)*batches
		s := sum{d: x.t.Elem}
		each(taps, func(k []int) {
			tap[d.Kernel[1]] = k[0]
			src[d.Input[1]] = f/(features/fg)*taps[0] + k[0]
			for i, win := range ws {
				t := k[1+i]
				tap[d.Kernel[2+i]] = t
				if turned != nil && turned[i] {
					tap[d.Kernel[2+i]] = win.Size - 1 - t
				}
				var ok bool
				if src[d.Input[2+i]], ok = source(win, x.t.Dims[d.Input[2+i]], at[d.Output[2+i]], t); !ok {
					return
				}
			}
			s.add(x.v[flat(x.t.Dims, src)], w.v[flat(w.t.Dims, tap)])
		})
		out.v[p] = s.value(out.t.Elem)
	})
	return out
}
