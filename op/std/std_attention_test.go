package std

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// softmaxReference is the definition, after subtracting the maximum.
func softmaxReference(x *wide, dim int, sign float64, logs bool) *wide {
	if len(x.dims) == 0 {
		x = &wide{[]int{1}, x.v}
		out := softmaxReference(x, 0, sign, logs)
		out.dims = nil
		return out
	}
	if dim < 0 {
		dim += len(x.dims)
	}
	out := newWide(x.dims...)
	for i, v := range x.v {
		at, high, sum := x.index(i), math.Inf(-1), 0.0
		for j := range x.dims[dim] {
			at[dim] = j
			if w := sign * x.at(at...); w > high || math.IsNaN(w) {
				high = w
			}
		}
		for j := range x.dims[dim] {
			at[dim] = j
			sum += math.Exp(sign*x.at(at...) - high)
		}
		out.v[i] = math.Exp(sign*v-high) / sum
		if logs {
			out.v[i] = sign*v - high - math.Log(sum)
		}
	}
	return out
}

func TestSoftmax(t *testing.T) {
	ref := func(sign float64, logs bool) reference {
		return func(attrs any, in []*wide) []*wide {
			return []*wide{softmaxReference(in[0], attrs.(DimAttrs).Dim, sign, logs)}
		}
	}
	checkAgainst(t, Softmax, ref(1, false))
	checkAgainst(t, LogSoftmax, ref(1, true))
	checkAgainst(t, Softmin, ref(-1, false))
}

// lead gives x the rank n by dimensions of size 1 in front.
func lead(x *wide, n int) *wide {
	dims := x.dims
	for len(dims) < n {
		dims = append([]int{1}, dims...)
	}
	return &wide{dims, x.v}
}

func attentionReference(attrs any, in []*wide) []*wide {
	a := attrs.(AttentionAttrs)
	rank := 2
	for _, x := range in {
		if x != nil {
			rank = max(rank, len(x.dims))
		}
	}
	q, k, v := lead(in[0], rank), lead(in[1], rank), lead(in[2], rank)
	dims := make([]int, rank)
	for i := range rank - 2 {
		dims[i] = q.dims[i]
		if dims[i] == 1 {
			dims[i] = max(k.dims[i], v.dims[i])
		}
	}
	dims[rank-2], dims[rank-1] = q.dims[rank-2], v.dims[rank-1]
	scale := 1 / math.Sqrt(float64(q.dims[rank-1]))
	if a.Scale.Present() {
		scale = a.Scale.Float64()
	}
	head := func(at []int, x *wide) []int {
		at = append([]int(nil), at...)
		if a.EnableGqa {
			at[rank-3] /= q.dims[rank-3] / x.dims[rank-3]
		}
		return at
	}
	out := newWide(dims...)
	for i := range out.v {
		at := out.index(i)
		row, positions := at[rank-2], k.dims[rank-2]
		weights := newWide(positions)
		any := false
		for s := range positions {
			qi, ki := append([]int(nil), at...), head(at, k)
			ki[rank-2] = s
			for e := range q.dims[rank-1] {
				qi[rank-1], ki[rank-1] = e, e
				weights.v[s] += q.at(qi...) * k.at(ki...) * scale
			}
			keep := !a.IsCausal || s <= row
			if m := in[3]; m != nil {
				mi := append(append([]int(nil), at[:rank-1]...), s)
				v := lead(m, rank).at(mi...)
				if isMask(m) {
					keep = v != 0
				} else {
					weights.v[s] += v
				}
			}
			if !keep {
				weights.v[s] = math.Inf(-1)
			}
			any = any || keep
		}
		if !any {
			continue
		}
		weights = softmaxReference(weights, 0, 1, false)
		vi := head(at, v)
		for s, w := range weights.v {
			vi[rank-2] = s
			out.v[i] += w * v.at(vi...)
		}
	}
	return []*wide{out}
}

// isMask reports whether x has only the values of a bool.
func isMask(x *wide) bool {
	for _, v := range x.v {
		if v != 0 && v != 1 {
			return false
		}
	}
	return true
}

func TestAttention(t *testing.T) {
	checkAgainst(t, ScaledDotProductAttention, attentionReference)
}

func TestAttentionSymbols(t *testing.T) {
	n, l, c := shape.Sym("N"), shape.Sym("T"), shape.Const
	x := shape.TensorType(array.F32, shape.Of(n, c(12), l, c(64)))
	y, err := ScaledDotProductAttention.Type(nil, AttentionAttrs{IsCausal: true}, []shape.Type{x, x, x})
	require.NoError(t, err)
	require.Equal(t, x.String(), y.String())
	require.Equal(t, "3072*N*T*T", ScaledDotProductAttention.Flops(AttentionAttrs{}, []shape.Type{x, x, x}, y).String())
	odd := shape.TensorType(array.F32, shape.Of(n, c(12), l, shape.Sym("E")))
	y, err = ScaledDotProductAttention.Type(nil, AttentionAttrs{}, []shape.Type{odd, odd, odd})
	require.NoError(t, err)
	require.Equal(t, odd.String(), y.String())
}

func TestEmbedding(t *testing.T) {
	checkAgainst(t, Embedding, func(_ any, in []*wide) []*wide {
		x, w := in[0], in[1]
		out := newWide(append(append([]int(nil), x.dims...), w.dims[1])...)
		for i := range out.v {
			out.v[i] = w.v[int(x.v[i/w.dims[1]])*w.dims[1]+i%w.dims[1]]
		}
		return []*wide{out}
	})
	_, err := Embedding.Eval(&kernel.Workspace{}, op.None{}, []*array.Array{array.FromSlice([]int64{0, 7}), array.New(array.F32, 7, 2)})
	require.ErrorContains(t, err, "index 7 is out of range for dimension 0 of size 7")
}

func TestEmbeddingBag(t *testing.T) {
	checkAgainst(t, EmbeddingBag, func(attrs any, in []*wide) []*wide {
		a, x, w, offsets, scale := attrs.(EmbeddingBagAttrs), in[0], in[1], in[2], in[3]
		var bounds [][2]int
		switch {
		case len(x.dims) == 2:
			for i := range x.dims[0] {
				bounds = append(bounds, [2]int{i * x.dims[1], (i + 1) * x.dims[1]})
			}
		default:
			ends := append(append([]float64(nil), offsets.v...), float64(len(x.v)))
			for i := range len(ends) - 1 {
				bounds = append(bounds, [2]int{int(ends[i]), int(ends[i+1])})
			}
			if a.IncludeLastOffset {
				bounds = bounds[:len(bounds)-1]
			}
		}
		out := newWide(len(bounds), w.dims[1])
		for i := range out.v {
			at := out.index(i)
			lo, hi := bounds[at[0]][0], bounds[at[0]][1]
			for p := lo; p < hi; p++ {
				v := w.at(int(x.v[p]), at[1])
				if scale != nil {
					v *= scale.v[p]
				}
				switch {
				case a.Mode != "max":
					out.v[i] += v
				case p == lo || v > out.v[i] || math.IsNaN(v):
					out.v[i] = v
				}
			}
			if a.Mode == "" || a.Mode == "mean" {
				out.v[i] /= float64(max(hi-lo, 1))
			}
		}
		return []*wide{out}
	})
}
