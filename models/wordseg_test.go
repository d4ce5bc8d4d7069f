package models_test

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tensor"
)

var lexicon = models.Lexicon{"the", "dog", "do", "ran", "a", "then", "he"}

func smallWordSeg() *models.WordSeg {
	c := models.WordSegEnglish
	c.Words, c.Width, c.MaxLength = len(lexicon)+1, 6, 4
	m := models.NewWordSeg(c)
	models.Synthetic(&models.Model{}, m, seed)
	return m
}

// wordOf is the probability of a word of a text, computed by itself: of its letters one after
// the other, and of the lexicon.
func wordOf(m *models.WordSeg, letters, words *tensor.Tensor, from, length int) float64 {
	embedded := func(i int) *tensor.Tensor { return m.Embedding.Forward(letters.Narrow(0, i, 1)) }
	h := embedded(0).ZerosLike()
	c := h
	for i := range from {
		h, c = m.Encoder.Forward(embedded(i), h, c)
	}
	at := func(x *tensor.Tensor, i int) float64 { return x.Softmax(-1).At(0, i).Item() }
	gate := m.Gate.Forward(h)
	lex := m.Word.Forward(m.Hidden.Forward(h).Tanh())
	x, state, cell := h.ZerosLike(), h, h.ZerosLike()
	spelt := 1.0
	for i := from; ; i++ {
		state, cell = m.Decoder.Forward(x, state, cell)
		next := m.Letter.Forward(state)
		if i == from+length {
			spelt *= at(next, 0)
			break
		}
		spelt *= at(next, int(letters.At(i).Item()))
		x = embedded(i)
	}
	p := at(gate, 1) * spelt
	if entry := int(words.At(from, length-1).Item()); entry > 0 {
		p += at(gate, 0) * at(lex, entry)
	}
	return p
}

// The probability of a text is the sum over all ways to cut it, and Segment finds the largest
// term.
func TestWordSegSumsOverAllCuts(t *testing.T) {
	m := smallWordSeg()
	letters, words := lexicon.Read("thedogran", 4)
	n := letters.Dim(0)
	part := make([][]float64, n)
	for from := range n {
		for k := 1; k <= 4 && from+k <= n; k++ {
			part[from] = append(part[from], wordOf(m, letters, words, from, k))
		}
	}
	var sum, long, most float64
	var best []int
	var walk func(from int, p, lengths float64, cut []int)
	walk = func(from int, p, lengths float64, cut []int) {
		if from == n {
			sum, long = sum+p, long+p*lengths
			if p > most {
				most, best = p, append([]int(nil), cut...)
			}
			return
		}
		for k, q := range part[from] {
			walk(from+k+1, p*q, lengths+math.Pow(float64(k+1), 5), append(cut, k+1))
		}
	}
	walk(0, 1, 0, nil)
	logp, lengths := m.Forward(letters, words)
	require.InEpsilon(t, math.Log(sum), logp.Item(), 1e-5)
	require.InEpsilon(t, math.Log(long), lengths.Item(), 1e-5)
	require.InEpsilon(t, 0.00075*long/sum-math.Log(sum), m.Loss(letters, words).Item(), 1e-5)
	require.Equal(t, best, m.Segment(letters, words))
}

// Gradients of the loss are those of differences, of words in and out of the lexicon.
func TestWordSegHasGradients(t *testing.T) {
	m := smallWordSeg()
	letters, words := lexicon.Read("adogx", 4)
	loss := func() *tensor.Tensor { return m.Loss(letters, words) }
	_, grads, err := fx.ValueAndGrad(loss, m.Gate.Bias, m.Word.Bias, m.Decoder.WeightHh)
	require.NoError(t, err)
	for i, w := range []*tensor.Tensor{m.Gate.Bias, m.Word.Bias, m.Decoder.WeightHh} {
		x, g := w.Reshape(-1).At(1), grads[i].Reshape(-1).At(1).Item()
		const step = 1.0 / 64
		x.AddScalarInPlace(step)
		up := loss().Item()
		x.AddScalarInPlace(-2 * step)
		down := loss().Item()
		x.AddScalarInPlace(step)
		require.InDelta(t, (up-down)/(2*step), g, 2e-3)
		require.NotZero(t, g)
	}
}

// A trace of a length is that loop unrolled.
func TestWordSegIsCaptured(t *testing.T) {
	m := smallWordSeg()
	letters, words := lexicon.Read("thedog", 4)
	gm, err := fx.Trace(context.Background(), m.Loss, fx.Input("letters", "i64[6]"), fx.Input("words", "i64[6,4]"))
	require.NoError(t, err)
	out, err := gm.Run(context.Background(), letters, words)
	require.NoError(t, err)
	require.True(t, array.Equal(m.Loss(letters, words).Array(), out[0].Array()))
}
