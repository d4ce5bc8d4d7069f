package nn_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

func TestPaddingModesPadFirst(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 4)
	for mode, want := range map[string][]float64{
		"zeros":     {3, 6, 9, 7},
		"reflect":   {5, 6, 9, 10},
		"replicate": {4, 6, 9, 11},
		"circular":  {7, 6, 9, 8},
	} {
		m := nn.NewConv1d(1, 1, 3, nn.Padding(1), nn.PaddingMode(mode), nn.NoBias())
		nn.Constant(m.Weight, 1)
		require.Equal(t, want, values(m.Forward(x)), mode)
	}
	m := nn.NewConv2d(1, 1, 1, nn.Padding(0, 1), nn.PaddingMode("replicate"), nn.NoBias())
	nn.Constant(m.Weight, 1)
	require.Equal(t, []float64{1, 1, 2, 2, 3, 3, 4, 4}, values(m.Forward(tensor.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2))))
}

func TestBilinear(t *testing.T) {
	m := nn.NewBilinear(2, 3, 2)
	a, b := filled(4, 2), filled(4, 3)
	y := values(m.Forward(a, b))
	w, va, vb := values(m.Weight), values(a), values(b)
	for n := range 4 {
		for k := range 2 {
			sum := values(m.Bias)[k]
			for i := range 2 {
				for j := range 3 {
					sum += va[n*2+i] * w[(k*2+i)*3+j] * vb[n*3+j]
				}
			}
			require.InDelta(t, sum, y[n*2+k], 1e-6)
		}
	}
	bare := nn.NewBilinear(2, 3, 2, nn.NoBias())
	require.Nil(t, bare.Bias)
	require.Equal(t, []int{4, 2}, bare.Forward(a, b).Shape())
}

func TestLPPool3d(t *testing.T) {
	m := nn.NewLPPool3d(2, 2)
	y := m.Forward(tensor.Ones(1, 1, 2, 4, 2))
	require.Equal(t, []int{1, 1, 1, 2, 1}, y.Shape())
	require.InDeltaSlice(t, []float64{math.Sqrt(8), math.Sqrt(8)}, values(y), 1e-6)
}

func TestBags(t *testing.T) {
	m := nn.NewEmbeddingBag(4, 1, nn.Mode("sum"))
	copy(tensor.Data[float32](m.Weight), []float32{1, 10, 100, 1000})
	x, starts := tensor.FromSlice([]int64{0, 1, 2, 3}), tensor.FromSlice([]int64{0, 3})
	require.Equal(t, []float64{111, 1000}, values(m.Bags(x, starts, nil)))
	require.Equal(t, []float64{321, 4000}, values(m.Bags(x, starts, tensor.FromSlice([]float32{1, 2, 3, 4}))))
	m.Mode = "mean"
	require.Equal(t, []float64{37, 1000}, values(m.Bags(x, starts, nil)))
}

// attention computes multi-head attention in float64, number by number.
func attention(m *nn.MultiheadAttention, q, k, v []float64, n, l, s int, hidden func(b, i, j int) bool) (out, weights []float64) {
	e, h := m.EmbedDim, m.NumHeads
	d := e / h
	w, b := values(m.InProjWeight), values(m.InProjBias)
	project := func(x []float64, row, part int) []float64 {
		y := make([]float64, e)
		for o := range e {
			y[o] = b[part*e+o]
			for i := range e {
				y[o] += w[(part*e+o)*e+i] * x[row*e+i]
			}
		}
		return y
	}
	ow, ob := values(m.OutProj.Weight), values(m.OutProj.Bias)
	for bt := range n {
		for i := range l {
			qi, y := project(q, bt*l+i, 0), make([]float64, e)
			mean := make([]float64, s)
			for hd := range h {
				p, sum := make([]float64, s), 0.0
				for j := range s {
					if hidden(bt, i, j) {
						continue
					}
					kj, dot := project(k, bt*s+j, 1), 0.0
					for c := range d {
						dot += qi[hd*d+c] * kj[hd*d+c]
					}
					p[j] = math.Exp(dot / math.Sqrt(float64(d)))
					sum += p[j]
				}
				for j := range s {
					vj := project(v, bt*s+j, 2)
					mean[j] += p[j] / sum / float64(h)
					for c := range d {
						y[hd*d+c] += p[j] / sum * vj[hd*d+c]
					}
				}
			}
			for o := range e {
				z := ob[o]
				for c := range e {
					z += ow[o*e+c] * y[c]
				}
				out = append(out, z)
			}
			weights = append(weights, mean...)
		}
	}
	return out, weights
}

func TestMultiheadAttention(t *testing.T) {
	const n, l, s, e = 2, 3, 4, 6
	m := nn.NewMultiheadAttention(e, 2, nn.BatchFirst(), nn.Seed(3))
	nn.NewSource(8).Uniform(m.InProjBias, -1, 1)
	nn.NewSource(9).Uniform(m.OutProj.Bias, -1, 1)
	q, k, v := filled(n, l, e), filled(n, s, e).MulScalar(0.7), filled(n, s, e).AddScalar(0.1)
	padding := tensor.FromSlice([]bool{false, false, false, true, false, true, false, false}, n, s)
	later := tensor.FromSlice([]bool{false, true, true, true, false, false, true, true, false, false, false, true}, l, s)
	penalty := tensor.FromSlice([]float32{0, float32(math.Inf(-1)), 0, 0, 0, 0, float32(math.Inf(-1)), 0, 0, 0, 0, 0}, l, s)
	at := func(x *tensor.Tensor, i int) bool { return array.Float64At(x.Array(), i) != 0 }
	for _, c := range []struct {
		name           string
		padding, pairs *tensor.Tensor
		hidden         func(b, i, j int) bool
	}{
		{"no mask", nil, nil, func(_, _, _ int) bool { return false }},
		{"padding", padding, nil, func(b, _, j int) bool { return at(padding, b*s+j) }},
		{"pairs", nil, later, func(_, i, j int) bool { return at(later, i*s+j) }},
		{"both", padding, later, func(b, i, j int) bool { return at(padding, b*s+j) || at(later, i*s+j) }},
		{"numbers", nil, penalty, func(_, i, j int) bool { return at(penalty, i*s+j) }},
		{"padding and numbers", padding, penalty, func(b, i, j int) bool { return at(padding, b*s+j) || at(penalty, i*s+j) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, weights := attention(m, values(q), values(k), values(v), n, l, s, c.hidden)
			require.InDeltaSlice(t, want, values(m.Forward(q, k, v, c.padding, c.pairs)), 1e-5)
			out, w := m.Attend(q, k, v, c.padding, c.pairs)
			require.InDeltaSlice(t, want, values(out), 1e-5)
			require.InDeltaSlice(t, weights, values(w), 1e-6)
		})
	}
	self, _ := attention(m, values(q), values(q), values(q), n, l, l, func(_, _, _ int) bool { return false })
	require.InDeltaSlice(t, self, values(m.Forward(q, q, q, nil, nil)), 1e-5)
	m.BatchFirst = false
	turned := q.Transpose(0, 1)
	require.InDeltaSlice(t, self, values(m.Forward(turned, turned, turned, nil, nil).Transpose(0, 1)), 1e-5)

	drop := nn.NewMultiheadAttention(e, 2, nn.NoBias(), nn.DropoutBetween(0.5, 1))
	require.Nil(t, drop.InProjBias)
	calm := values(drop.Forward(q, q, q, nil, nil))
	nn.Train(drop)
	require.NotEqual(t, calm, values(drop.Forward(q, q, q, nil, nil)))
}

func TestCellsStartFromZeros(t *testing.T) {
	x := filled(2, 3)
	lstm := nn.NewLSTMCell(3, 4)
	h, c := lstm.Forward(x, nil, nil)
	h2, c2 := lstm.Forward(x, tensor.Zeros(2, 4), tensor.Zeros(2, 4))
	require.Equal(t, values(h2), values(h))
	require.Equal(t, values(c2), values(c))
	gru := nn.NewGRUCell(3, 4, nn.NoBias())
	require.Equal(t, []int{4}, gru.Forward(x.Select(0, 1), nil).Shape())
	rnn := nn.NewRNNCell(3, 4, nn.Nonlinearity("relu"))
	for _, v := range values(rnn.Forward(x, nil)) {
		require.GreaterOrEqual(t, v, 0.0)
	}
}

func TestPoolsTellWhereTheMaximaAre(t *testing.T) {
	type pool interface {
		nn.Module
		ForwardIndices(x *tensor.Tensor) (values, indices *tensor.Tensor)
	}
	line, plane, cube := filled(1, 2, 8), filled(1, 2, 4, 6), filled(1, 2, 4, 4, 2)
	for _, c := range []struct {
		m pool
		x *tensor.Tensor
	}{
		{nn.NewMaxPool1d(3, nn.Stride(2)), line}, {nn.NewMaxPool2d(2), plane}, {nn.NewMaxPool3d(2), cube},
		{nn.NewAdaptiveMaxPool1d(3), line}, {nn.NewAdaptiveMaxPool2d(2, 3), plane}, {nn.NewAdaptiveMaxPool3d(2, 2, 1), cube},
	} {
		v, at := c.m.ForwardIndices(c.x)
		require.Equal(t, values(c.m.Forward(c.x)), values(v))
		x, inner := values(c.x), c.x.Array().Len()/2
		for i, k := range tensor.Data[int64](at) {
			channel := i / (v.Array().Len() / 2)
			require.Equal(t, values(v)[i], x[channel*inner+int(k)], "%T", c.m)
		}
	}
}
