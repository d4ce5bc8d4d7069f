package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// filled gives the parameters of a model small numbers.
func filled[M any](m M) M {
	for i, e := range nn.StateDict(m) {
		if e.Tensor.DType().IsFloat() {
			e.Tensor.AssignInPlace(ramp(e.Tensor.Shape()...).MulScalar(0.3).AddScalar(0.01 * float64(i%7)))
		}
	}
	return m
}

func tokens(n, from int) *tensor.Tensor {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64((from + 7*i) % 40)
	}
	return tensor.FromSlice(ids).Reshape(1, n)
}

// W3: BERT over texts of other lengths, one flush a text.
func TestRows_W3_bert(t *testing.T) {
	m := filled(models.NewBert(models.BertConfig{VocabSize: 40, MaxPositions: 32, TypeVocabSize: 2, HiddenSize: 16, NumLayers: 2, NumHeads: 2, IntermediateSize: 32, LayerNormEps: 1e-12}))
	s := open(t, lazy.Options{})
	texts := 0
	for range 3 {
		for _, n := range []int{9, 5, 7, 6, 8, 12, 31} {
			ids, mask := tokens(n, texts), tensor.Ones(1, n).Cast(array.I64)
			want, _ := m.Forward(ids, mask)
			got, _ := m.Forward(s.In(ids), s.In(mask))
			require.True(t, array.Equal(want.Array(), got.Array()), n)
			s.Wait()
			texts++
		}
	}
	st := s.Stats()
	require.Equal(t, []int{3, 1, texts, 0}, []int{st.Graphs, st.Compiles, st.Flushes[lazy.Data], st.Refused})
}

// W6: GPT-2 writes a text with the keys and values of the tokens before, whose number grows:
// graphs of the first lengths, and one of all others. It is asked for the next token alone, so
// that the keys and values are learned to be results.
func TestRows_W6_gpt2(t *testing.T) {
	c := models.GPT2Config{VocabSize: 40, MaxPositions: 64, Width: 16, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}
	m := filled(models.NewGPT2Decoder(c))
	write := func(in func(*tensor.Tensor) *tensor.Tensor, wait func()) (text []int) {
		ids, past := in(tokens(4, 1)), in(tensor.Zeros(0, 2, 2, 1, 2, 8))
		for range 40 {
			logits, present := m.Forward(ids, past)
			past = tensor.Cat([]*tensor.Tensor{past, present}, 0)
			next := logits.Argmax(-1)
			text = append(text, int(next.Item()))
			ids = next.Reshape(1, 1)
			wait()
		}
		return text
	}
	s := open(t, lazy.Options{})
	want := write(func(x *tensor.Tensor) *tensor.Tensor { return x }, func() {})
	require.Equal(t, want, write(s.In, s.Wait))
	st := s.Stats()
	require.Equal(t, []int{5, 1, 33, 0}, []int{st.Graphs, st.Compiles, st.Hits, st.Refused})
}

// A batch of images of any number is one graph from the third on.
func TestRows_W7_batches(t *testing.T) {
	m := filled(nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(), nn.NewLinear(4*7*7, 5)))
	nn.Eval(m)
	s := open(t, lazy.Options{})
	for range 2 {
		for _, n := range []int{2, 3, 4, 5, 6, 7, 16} {
			x := ramp(n, 3, 16, 16)
			require.True(t, array.Equal(m.Forward(x).Array(), m.Forward(s.In(x)).Array()), n)
			s.Wait()
		}
	}
	st := s.Stats()
	require.Equal(t, []int{3, 1}, []int{st.Graphs, st.Compiles})
}
