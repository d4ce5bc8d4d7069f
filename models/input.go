package models

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// InputRule makes the elements of a synthetic input: at is an element's index in
// each dimension and u its number of the stream "input/name".
type InputRule interface {
	Value(u float64, at []int, dims []int) float64
}

type (
	// Uniform is 2u-1.
	Uniform struct{}
	// Integers is floor(u*High).
	Integers struct{ High int }
	// IntegersBy is floor(u*High[k]), where k is the index along Axis.
	IntegersBy struct {
		Axis int
		High []int
	}
	// Below is 1 where u < P, else 0.
	Below struct{ P float64 }
	// Ratings is 0 for 99 of 100 elements, else one of 1..5.
	Ratings struct{}
	// Fixed is one value everywhere.
	Fixed struct{ Number float64 }
	// ForcedTokens are scores [T, N, V] that force what is written: 1e6 at token Tokens[n][t]
	// of step t and text n, token 0 after the last one and in texts without any, and 0 elsewhere.
	ForcedTokens struct{ Tokens [][]int }
	// Set overwrites slabs of another rule's elements.
	Set struct {
		Rule  InputRule
		Slabs []Slab
	}
)

// Slab is the part of a tensor whose index along Axis is at least From and less
// than To; negative bounds count from the end, and a To of 0 means the end.
type Slab struct {
	Axis, From, To int
	Value          float64
}

// Value implements InputRule.
func (Uniform) Value(u float64, _, _ []int) float64 { return float64(2*u) - 1 }

// Value implements InputRule.
func (r Integers) Value(u float64, _, _ []int) float64 { return math.Floor(u * float64(r.High)) }

// Value implements InputRule.
func (r IntegersBy) Value(u float64, at, _ []int) float64 {
	return math.Floor(u * float64(r.High[at[r.Axis]]))
}

// Value implements InputRule.
func (r Below) Value(u float64, _, _ []int) float64 {
	if u < r.P {
		return 1
	}
	return 0
}

// Value implements InputRule.
func (Ratings) Value(u float64, _, _ []int) float64 {
	if u >= 0.01 {
		return 0
	}
	return min(math.Floor(u*500)+1, 5)
}

// Value implements InputRule.
func (r Fixed) Value(float64, []int, []int) float64 { return r.Number }

// Value implements InputRule.
func (r ForcedTokens) Value(_ float64, at, _ []int) float64 {
	token := 0
	if t, n := at[0], at[1]; n < len(r.Tokens) && t < len(r.Tokens[n]) {
		token = r.Tokens[n][t]
	}
	if at[2] == token {
		return 1e6
	}
	return 0
}

// Value implements InputRule.
func (r Set) Value(u float64, at, dims []int) float64 {
	v := r.Rule.Value(u, at, dims)
	for _, s := range r.Slabs {
		lo, hi := s.From, s.To
		if lo < 0 {
			lo += dims[s.Axis]
		}
		if hi <= 0 {
			hi += dims[s.Axis]
		}
		if k := at[s.Axis]; k >= lo && k < hi {
			v = s.Value
		}
	}
	return v
}

// maxInput bounds the elements of a synthetic input.
const maxInput = 1 << 28

// SyntheticInput makes the input of a seed; dims gives the sizes of the symbols
// in its type.
func SyntheticInput(spec InputSpec, seed string, dims map[string]int) (*tensor.Tensor, error) {
	t, err := shape.ParseType(spec.Type)
	if err != nil {
		return nil, err
	}
	sizes := make([]int, t.Rank())
	for i := range sizes {
		d := t.Dim(i)
		if n, ok := d.Int(); ok {
			sizes[i] = n
		} else if n, ok := dims[d.String()]; ok {
			sizes[i] = n
		} else {
			return nil, diag.New(BadInput, "input "+spec.Name+" has the unknown size "+d.String()).WithHint("give the size of every symbol")
		}
	}
	n, ok := array.NumElems(sizes)
	if !ok || n > maxInput {
		return nil, diag.New(BadInput, "input "+spec.Name+" has more than "+strconv.Itoa(maxInput)+" elements")
	}
	a := array.New(t.DType(), sizes...)
	s := NewStream(seed, "input/"+spec.Name)
	at := make([]int, len(sizes))
	for i := range n {
		array.SetFloat64At(a, i, spec.Rule.Value(s.At(i), at, sizes))
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < sizes[k] {
				break
			}
			at[k] = 0
		}
	}
	return tensor.New(a), nil
}

// SyntheticInputs makes all inputs of a model with the sizes of its reference.
func (m *Model) SyntheticInputs(seed string) ([]*tensor.Tensor, error) {
	out := make([]*tensor.Tensor, len(m.Inputs))
	for i, s := range m.Inputs {
		x, err := SyntheticInput(s, seed, m.Dims)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}
