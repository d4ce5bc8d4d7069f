package program

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/reduce"
)

// product is a program that multiplies an operand of type from with an f32, and gives
// type to.
func product(from, to array.DType) *Program {
	p := &Program{Inputs: []array.DType{from, array.F32}, Outputs: []array.DType{to}, Code: []Instr{
		{Op: opcode.OpInput, DType: from, Dst: 0, Imm: 0},
		{Op: opcode.OpInput, DType: array.F32, Dst: 1, Imm: 1},
		{Op: opcode.OpCast, DType: array.F32, From: from, Dst: 2, A: 0},
		{Op: opcode.OpMul, DType: array.F32, Dst: 3, A: 1, B: 2},
		{Op: opcode.OpCast, DType: to, From: array.F32, Dst: 4, A: 3},
		{Op: opcode.OpOutput, DType: to, A: 4, Imm: 0},
	}}
	p.Regs[opcode.RegF32] = 5
	return p
}

// rowsCase is a step, its operands, and the step that its kind is by itself.
type rowsCase struct {
	s   ElementwiseRows
	own par.Step
	out array.DType
	in  []*array.Array
}

// inThreeSteps is the definition of ElementwiseRows in three steps.
func (c *rowsCase) inThreeSteps(shape []int) *array.Array {
	w := &par.Workspace{}
	before, norm, after := c.s.inputs(c.in)
	x := before[0]
	if c.s.Before != nil {
		x = array.New(array.F32, shape...)
		Elementwise{*c.s.Before}.Run(w, []*array.Array{x}, before)
	}
	y := array.New(array.F32, shape...)
	c.own.Run(w, []*array.Array{y}, append([]*array.Array{x}, norm...))
	if c.s.After == nil {
		return y
	}
	z := array.New(c.out, shape...)
	Elementwise{*c.s.After}.Run(w, []*array.Array{z}, append([]*array.Array{y}, after...))
	return z
}

// draw returns an operand of numbers, or of anything that floats can be.
func draw(r *rand.Rand, d array.DType, shape []int, special bool) *array.Array {
	if special {
		return kerneltest.StridedArray(r, d, shape)
	}
	return kerneltest.ToArray(kerneltest.RandomRef(r, shape), d, r.IntN(4) == 0)
}

// newRowsCase returns a step of a kind over so many operands of random layouts.
func newRowsCase(r *rand.Rand, kind string, shape []int, before, after, special bool) rowsCase {
	operand := func(d array.DType) *array.Array {
		s := append([]int(nil), shape...)
		for i := range s {
			if r.IntN(5) == 0 {
				s[i] = 1
			}
		}
		return draw(r, d, s, special)
	}
	c := rowsCase{s: ElementwiseRows{Kind: kind}, out: array.F32}
	if before {
		from := []array.DType{array.F32, array.F16}[r.IntN(2)]
		c.s.Before = product(from, array.F32)
		c.in = append(c.in, operand(from), operand(array.F32))
	} else {
		c.in = append(c.in, draw(r, array.F32, shape, special))
	}
	rank := len(shape)
	weights := []int{shape[1]}
	c.s.Axes, c.s.Groups, c.s.Eps = 1+r.IntN(2), []int{1, shape[1], -1}[r.IntN(3)], 1e-5
	if kind == reduce.RowsOfLayerNorm || kind == reduce.RowsOfRMSNorm {
		weights = shape[rank-c.s.Axes:]
	}
	for range 2 {
		c.in = append(c.in, nil)
		if c.s.Kind != reduce.RowsOfSoftmax && c.s.Kind != reduce.RowsOfLogSoftmax && r.IntN(3) > 0 {
			c.in[len(c.in)-1] = draw(r, array.F32, weights, special)
		}
	}
	switch kind {
	case reduce.RowsOfSoftmax:
		c.own = reduce.Softmax{Dim: rank - 1}
	case reduce.RowsOfLogSoftmax:
		c.own = reduce.LogSoftmax{Dim: rank - 1}
	case reduce.RowsOfLayerNorm:
		c.own = reduce.LayerNorm{Axes: c.s.Axes, Eps: c.s.Eps}
	case reduce.RowsOfRMSNorm:
		c.in[len(c.in)-1] = nil
		c.own = reduce.RMSNorm{Axes: c.s.Axes, Eps: c.s.Eps}
	default:
		c.own = reduce.GroupNorm{Groups: c.s.Groups, Eps: c.s.Eps}
	}
	if after {
		c.out = []array.DType{array.F32, array.BF16}[r.IntN(2)]
		c.s.After = product(array.F32, c.out)
		c.in = append(c.in, operand(array.F32))
	}
	return c
}

// TestElementwiseRowsEqualsThreeSteps compares bits, at every level and on threads, for
// rows that are shorter and longer than the part that is computed at a time.
func TestElementwiseRowsEqualsThreeSteps(t *testing.T) {
	shapes := [][]int{{3, 4, 64}, {7, 5, 33}, {1, 6, 1}, {2, 300, 197}, {1, 4, 512}, {2, 3, reduce.RowSpan/2 + 77}}
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, kind := range []string{reduce.RowsOfSoftmax, reduce.RowsOfLogSoftmax, reduce.RowsOfLayerNorm, reduce.RowsOfRMSNorm, reduce.RowsOfGroupNorm} {
			for k := range 4 * len(shapes) {
				shape := shapes[k/4]
				special := r.IntN(8) == 0
				c := newRowsCase(r, kind, shape, k&1 != 0, k&2 != 0, special)
				want, out := c.inThreeSteps(shape), array.New(c.out, shape...)
				what := fmt.Sprint(kind, shape, c.s.Before != nil, c.s.After != nil)
				if !special { // NaN of several payloads
					kerneltest.RunStep(t, c.s, []*array.Array{out}, c.in)
					kerneltest.RequireEqualArrays(t, want, out, what)
				}
				for _, threads := range []int{1, 2, 5} {
					clear(out.Storage().Bytes())
					c.s.Run(&par.Workspace{Threads: threads}, []*array.Array{out}, c.in)
					kerneltest.RequireEqualArrays(t, want, out, what, threads)
				}
			}
		}
	})
}

func TestElementwiseRowsOfNothing(t *testing.T) {
	c := newRowsCase(rand.New(rand.NewPCG(1, 1)), reduce.RowsOfSoftmax, []int{2, 3, 4}, true, true, false)
	for _, shape := range [][]int{{0, 3, 4}, {2, 3, 0}} {
		c.in[0], c.in[1], c.in[4] = array.New(c.in[0].DType(), shape...), array.New(array.F32, shape...), array.New(array.F32, shape...)
		c.s.Run(&par.Workspace{}, []*array.Array{array.New(c.out, shape...)}, c.in)
	}
}

func TestElementwiseRowsDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, shape := range [][]int{{50, 7, 100}, {2, 300, 197}} {
		for _, kind := range []string{reduce.RowsOfSoftmax, reduce.RowsOfGroupNorm} {
			c := newRowsCase(r, kind, shape, true, true, false)
			kerneltest.RequireNoAllocs(t, c.s, []*array.Array{array.New(c.out, shape...)}, c.in)
		}
	}
}

func TestElementwiseRowsRefuses(t *testing.T) {
	x, y := array.New(array.F32, 4, 6), array.New(array.F32, 5)
	p := product(array.F32, array.F32)
	for name, c := range map[string]struct {
		s   ElementwiseRows
		out array.DType
		in  []*array.Array
	}{
		"a result of 16 bits with nothing behind": {ElementwiseRows{Kind: "softmax"}, array.F16, []*array.Array{x}},
		"f16 before":                           {ElementwiseRows{Kind: "softmax", Before: product(array.F32, array.F16)}, array.F32, []*array.Array{x, x}},
		"an operand that does not broadcast":   {ElementwiseRows{Kind: "softmax", Before: p}, array.F32, []*array.Array{x, y}},
		"one behind that does not broadcast":   {ElementwiseRows{Kind: "softmax", After: p}, array.F32, []*array.Array{x, nil, nil, y}},
		"no such kind":                         {ElementwiseRows{Kind: "hardmax"}, array.F32, []*array.Array{x}},
		"an operand too few behind":            {ElementwiseRows{Kind: "softmax", After: p}, array.F32, []*array.Array{x, nil, nil}},
		"another type than the one behind has": {ElementwiseRows{Kind: "softmax", After: p}, array.F16, []*array.Array{x, nil, nil, x}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { require.IsType(t, &diag.Error{}, recover()) }()
			c.s.Run(&par.Workspace{}, []*array.Array{array.New(c.out, 4, 6)}, c.in)
		})
	}
}
