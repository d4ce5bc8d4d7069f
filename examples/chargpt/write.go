package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"

	"example.com/chargpt/charnet"
)

// write continues a text by n characters, by the generated package.
func write(ctx context.Context, w io.Writer, start string, n int, heat float64, seed uint64) error {
	net, err := charnet.New()
	if err != nil {
		return err
	}
	logits := func(chars []int64) ([]float32, error) {
		out, err := net.Forward(ctx, array.DenseOf(chars, 1, len(chars)))
		if err != nil {
			return nil, err
		}
		return out.Data(), nil
	}
	end, err := continued(logits, start, n, heat, seed)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, start+end)
	return err
}

// continued returns the n characters that a network writes after a text.
func continued(logits func(chars []int64) ([]float32, error), start string, n int, heat float64, seed uint64) (string, error) {
	if start == "" {
		start = "\n"
	}
	var chars []int64
	for _, c := range []byte(start) {
		chars = append(chars, number(c))
	}
	r := rand.New(rand.NewPCG(seed, 0))
	end := make([]byte, 0, n)
	for range n {
		seen := chars[max(0, len(chars)-window):]
		out, err := logits(seen)
		if err != nil {
			return "", err
		}
		next := choose(r, out[len(out)-symbols:], heat)
		chars, end = append(chars, int64(next)), append(end, character(int64(next)))
	}
	return string(end), nil
}

// choose draws one of the logits: the greatest for a heat of 0.
func choose(r *rand.Rand, logits []float32, heat float64) int {
	best := 0
	for i, v := range logits {
		if v > logits[best] {
			best = i
		}
	}
	if !(heat > 0) {
		return best
	}
	sum := 0.0
	weights := make([]float64, len(logits))
	for i, v := range logits {
		weights[i] = math.Exp(float64(v-logits[best]) / heat)
		sum += weights[i]
	}
	at := r.Float64() * sum
	for i, v := range weights {
		if at -= v; at < 0 {
			return i
		}
	}
	return best
}

// modelLogits computes what a model says, without generated code.
func modelLogits(m *GPT) func(chars []int64) ([]float32, error) {
	return func(chars []int64) ([]float32, error) {
		return tensor.Data[float32](m.Forward(tensor.FromSlice(chars, 1, len(chars)))), nil
	}
}
