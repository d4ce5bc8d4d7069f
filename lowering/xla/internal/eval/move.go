package eval

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

func constant(o *stablehlo.Op, _ []tensor) tensor {
	d := o.Get("value").(stablehlo.Dense)
	out := newTensor(d.Type)
	for i := range out.v {
		out.v[i] = stablehlo.Extend(d.Type.Elem, d.At(i))
	}
	return out
}

func iota(o *stablehlo.Op, _ []tensor) tensor {
	out, dim := newTensor(o.Results[0].Type), o.Int("iota_dimension")
	i := 0
	each(out.t.Dims, func(at []int) {
		out.v[i] = cast(array.I64, out.t.Elem, uint64(at[dim]))
		i++
	})
	return out
}

// moved fills the result with the elements of x at the index that from makes of each of the result's.
func moved(o *stablehlo.Op, x tensor, from func(at, src []int)) tensor {
	out := newTensor(o.Results[0].Type)
	src := make([]int, x.t.Rank())
	i := 0
	each(out.t.Dims, func(at []int) {
		from(at, src)
		out.v[i] = x.v[flat(x.t.Dims, src)]
		i++
	})
	return out
}

func broadcast(o *stablehlo.Op, in []tensor) tensor {
	dims := o.Ints("broadcast_dimensions")
	return moved(o, in[0], func(at, src []int) {
		for i, d := range dims {
			src[i] = at[d]
			if in[0].t.Dims[i] == 1 {
				src[i] = 0
			}
		}
	})
}

func reshape(o *stablehlo.Op, in []tensor) tensor { return tensor{o.Results[0].Type, in[0].v} }

func transpose(o *stablehlo.Op, in []tensor) tensor {
	perm := o.Ints("permutation")
	return moved(o, in[0], func(at, src []int) {
		for i, p := range perm {
			src[p] = at[i]
		}
	})
}

func reverse(o *stablehlo.Op, in []tensor) tensor {
	dims := o.Ints("dimensions")
	return moved(o, in[0], func(at, src []int) {
		for i := range src {
			src[i] = at[i]
			if slices.Contains(dims, i) {
				src[i] = in[0].t.Dims[i] - 1 - at[i]
			}
		}
	})
}

func slice(o *stablehlo.Op, in []tensor) tensor {
	start, step := o.Ints("start_indices"), o.Ints("strides")
	return moved(o, in[0], func(at, src []int) {
		for i := range src {
			src[i] = start[i] + at[i]*step[i]
		}
	})
}

// clamped returns start indices moved so that a window of some sizes lies within dims.
func clamped(start []tensor, dims, sizes []int) []int {
	list := make([]int, len(start))
	for i, t := range start {
		list[i] = clamp(t.t.Elem, t.v[0], dims[i]-sizes[i])
	}
	return list
}

// clamp returns an index between 0 and most.
func clamp(d array.DType, bits uint64, most int) int {
	if !d.IsSigned() {
		return int(min(bits, uint64(most)))
	}
	return int(min(max(int64(bits), 0), int64(most)))
}

func dynamicSlice(o *stablehlo.Op, in []tensor) tensor {
	start := clamped(in[1:], in[0].t.Dims, o.Ints("slice_sizes"))
	return moved(o, in[0], func(at, src []int) {
		for i := range src {
			src[i] = start[i] + at[i]
		}
	})
}

func updateSlice(_ *stablehlo.Op, in []tensor) tensor {
	x, u := in[0], in[1]
	start := clamped(in[2:], x.t.Dims, u.t.Dims)
	out := tensor{x.t, slices.Clone(x.v)}
	dst := make([]int, x.t.Rank())
	i := 0
	each(u.t.Dims, func(at []int) {
		for k := range dst {
			dst[k] = start[k] + at[k]
		}
		out.v[flat(x.t.Dims, dst)] = u.v[i]
		i++
	})
	return out
}

func concatenate(o *stablehlo.Op, in []tensor) tensor {
	out, dim := newTensor(o.Results[0].Type), o.Int("dimension")
	begin := 0
	for _, x := range in {
		dst := make([]int, x.t.Rank())
		i := 0
		each(x.t.Dims, func(at []int) {
			copy(dst, at)
			dst[dim] += begin
			out.v[flat(out.t.Dims, dst)] = x.v[i]
			i++
		})
		begin += x.t.Dims[dim]
	}
	return out
}

func pad(o *stablehlo.Op, in []tensor) tensor {
	out, lo, gap := newTensor(o.Results[0].Type), o.Ints("edge_padding_low"), o.Ints("interior_padding")
	for i := range out.v {
		out.v[i] = in[1].v[0]
	}
	dst := make([]int, out.t.Rank())
	i := -1
	each(in[0].t.Dims, func(at []int) {
		i++
		for k := range dst {
			dst[k] = lo[k] + at[k]*(gap[k]+1)
			if dst[k] < 0 || dst[k] >= out.t.Dims[k] {
				return // a negative padding crops
			}
		}
		out.v[flat(out.t.Dims, dst)] = in[0].v[i]
	})
	return out
}
