package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
)

// scalar returns a program of one f32: code over its operand, in register 0, with the
// result in register 1, and constants from register 2 on.
func scalar(code []Instr, consts ...float32) *Program {
	p := &Program{Inputs: []array.DType{array.F32}, Outputs: []array.DType{array.F32}, Regs: [3]int{2 + len(consts), 1, 0}}
	for i, c := range consts {
		p.Consts = append(p.Consts, Instr{Op: OpConst, DType: array.F32, Dst: uint16(2 + i), Imm: uint64(math.Float32bits(c))})
	}
	p.Code = append([]Instr{{Op: OpInput, DType: array.F32}}, code...)
	p.Code = append(p.Code, Instr{Op: OpOutput, DType: array.F32, A: 1})
	return p
}

// scalars are functions of one f32: silu, hardswish, and one in f64 that has no
// assembly.
var scalars = []*Program{
	scalar([]Instr{{Op: OpSigmoid, DType: array.F32, Dst: 1}, {Op: OpMul, DType: array.F32, Dst: 1, A: 0, B: 1}}),
	scalar([]Instr{{Op: OpAdd, DType: array.F32, Dst: 1, A: 0, B: 2}, {Op: OpMax, DType: array.F32, Dst: 1, A: 1, B: 3},
		{Op: OpMin, DType: array.F32, Dst: 1, A: 1, B: 4}, {Op: OpMul, DType: array.F32, Dst: 1, A: 1, B: 0}, {Op: OpDiv, DType: array.F32, Dst: 1, A: 1, B: 4}}, 3, 0, 6),
	scalar([]Instr{{Op: OpCast, DType: array.F64, From: array.F32}, {Op: OpTanh, DType: array.F64}, {Op: OpCast, DType: array.F32, From: array.F64, Dst: 1}}),
}

// contraction is a step with an epilogue, and its packed weight.
type contraction struct {
	name     string
	x, y     []int
	packed   *array.Array
	channels int
	step     func(Epilogue) Step
}

func linear(r *rand.Rand, m, n, k int) contraction {
	packed := array.New(array.F32, PackedLen(k, n))
	PackLinear{}.Run(&Workspace{}, []*array.Array{packed}, []*array.Array{kerneltest.ToArray(kerneltest.RandomRef(r, []int{n, k}), array.F32, false)})
	return contraction{fmt.Sprint("linear ", m, n, k), []int{m, k}, []int{m, n}, packed, n,
		func(e Epilogue) Step { return LinearPacked{Features: n, Epilogue: e} }}
}

// convolution is one whose image has the expected sizes, or with in nil unknown ones.
func convolution(r *rand.Rand, c Conv, x, w, y, in []int) contraction {
	pack := PackConv{Conv: c, In: in}
	weight := kerneltest.ToArray(kerneltest.RandomRef(r, w), array.F32, false)
	_, size := pack.Packed(weight)
	packed := array.New(array.F32, size...)
	pack.Run(&Workspace{}, []*array.Array{packed}, []*array.Array{weight})
	return contraction{fmt.Sprint("conv ", c, x, w, in), x, y, packed, w[0],
		func(e Epilogue) Step { return ConvPacked{Conv: c, Channels: w[0], Kernel: w[2:], In: in, Epilogue: e} }}
}

// contractions is one of each way to compute products and convolutions.
func contractions(r *rand.Rand) []contraction {
	pad := func(n, groups int) Conv { return Conv{PadLo: []int{n, n}, PadHi: []int{n, n}, Groups: groups} }
	halved := Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}, Stride: []int{2, 2}, Groups: 10}
	square := func(n, c, size int) []int { return []int{n, c, size, size} }
	conv := func(c Conv, chans, size, k, outs, out int, known bool) contraction {
		var in []int
		if known {
			in = []int{size, size}
		}
		return convolution(r, c, square(2, chans, size), square(outs, chans/max(c.Groups, 1), k), square(2, outs, out), in)
	}
	return []contraction{
		linear(r, 1, 300, 70), linear(r, 3, 70, 33), linear(r, 70, 300, 90), linear(r, 33, 130, 1000), linear(r, 60, 9, 200), linear(r, 5, 40, 0),
		linear(r, 200, 33, 2000), linear(r, 2, 12, 100), linear(r, 1, 1, 90),
		conv(Conv{}, 24, 28, 1, 40, 28, true),         // spans
		conv(Conv{}, 300, 20, 1, 40, 20, true),        // tiles
		conv(Conv{}, 300, 20, 1, 40, 20, false),       // of an unknown image
		conv(Conv{}, 260, 50, 1, 10, 50, true),        // in blocks of columns
		conv(pad(2, 2), 60, 14, 5, 70, 14, true),      // positions for rows
		conv(pad(2, 1), 20, 7, 5, 130, 7, true),       // two runs of them
		conv(pad(2, 1), 30, 30, 5, 70, 30, false),     // the implicit product
		conv(pad(1, 1), 30, 50, 3, 40, 50, true),      // Winograd, in blocks
		conv(pad(1, 2), 64, 15, 3, 44, 15, true),      // Winograd, with a rest
		conv(pad(1, 10), 10, 20, 3, 10, 20, true),     // depthwise
		conv(halved, 10, 15, 3, 20, 8, true),          // of several results
		conv(pad(2, 70), 70, 7, 5, 70, 7, true),       // of small maps
		conv(pad(0, 4), 4, 9, 4, 4, 6, true),          // with other filters
		conv(Conv{}, 200, 1, 1, 90, 1, true),          // matrix times vector
		conv(Conv{}, 200, 2, 1, 50, 2, false),         // times few
		conv(Conv{Groups: 4}, 32, 1, 1, 120, 1, true), // in groups
		convolution(r, Conv{PadLo: []int{1}}, []int{3, 61}, []int{40, 3, 3}, []int{40, 60}, []int{61}),
		convolution(r, Conv{}, []int{2, 0, 5, 5}, []int{3, 0, 3, 3}, []int{2, 3, 3, 3}, nil),
		convolution(r, Conv{PadLo: []int{200, 0}}, []int{1, 2, 3, 3}, []int{3, 2, 2, 2}, []int{1, 3, 402, 2}, nil),
	}
}

// A program after a product or convolution gives the same bits as in a step of its
// own, on any number of threads and after all other parts of an epilogue.
func TestEpiloguePrograms(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(31, 32))
		for i, c := range contractions(r) {
			t.Run(c.name, func(t *testing.T) {
				for subset := range 8 {
					if subset == 4 { // the rest with caches that small operands do not stay in
						defer cpu.UseCaches(cpu.UseCaches(kerneltest.Caches[0]))
					}
					if testing.Short() && subset%4 != i%4 {
						continue // one for each caches: emulated processors take minutes
					}
					p, e := scalars[(i+subset)%len(scalars)], kerneltest.EpilogueAt(subset)
					x := kerneltest.ToArray(kerneltest.RandomRef(r, c.x), array.F32, subset&2 != 0)
					more, _ := kerneltest.Extra(r, array.F32, subset, c.channels, c.y)
					in := append([]*array.Array{x, c.packed}, more...)
					sums, want, out := array.New(array.F32, c.y...), array.New(array.F32, c.y...), array.New(array.F32, c.y...)
					c.step(e).Run(&Workspace{}, []*array.Array{sums}, in)
					Elementwise{Program: *p}.Run(&Workspace{}, []*array.Array{want}, []*array.Array{sums})
					e.Program = p
					kerneltest.RunStep(t, c.step(e), []*array.Array{out}, in)
					kerneltest.RequireEqualArrays(t, want, out, subset)
				}
			})
		}
	})
}

// Results of 16 bits are rounded once, after the program.
func TestEpilogueProgramsOfHalves(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(33, 34))
		c, e := linear(r, 20, 50, 30), Epilogue{Program: scalars[0]}
		for _, d := range []array.DType{array.F16, array.BF16} {
			x := kerneltest.ToArray(kerneltest.RandomRef(r, c.x), d, false)
			wide, out := array.New(array.F32, c.y...), array.New(d, c.y...)
			c.step(e).Run(&Workspace{}, []*array.Array{wide}, []*array.Array{array.Cast(x, array.F32), c.packed})
			kerneltest.RunStep(t, c.step(e), []*array.Array{out}, []*array.Array{x, c.packed})
			kerneltest.RequireEqualArrays(t, array.Cast(wide, d), out)
		}
	})
}

func TestEpilogueProgramsDoNotAllocate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for k, c := range contractions(rand.New(rand.NewPCG(37, 38))) {
			if testing.Short() && k%4 != 0 {
				continue
			}
			kerneltest.RequireNoAllocs(t, c.step(Epilogue{Program: scalars[0]}), []*array.Array{array.New(array.F32, c.y...)},
				[]*array.Array{array.New(array.F32, c.x...), c.packed})
		}
	})
}

// TestEpilogueProgramsAreOfOneFloat tries programs that are not.
func TestEpilogueProgramsAreOfOneFloat(t *testing.T) {
	two := *scalars[0]
	two.Inputs = []array.DType{array.F32, array.F32}
	integer := *scalars[0]
	integer.Outputs = []array.DType{array.I32}
	place := scalar([]Instr{{Op: OpIndex, DType: array.I64}, {Op: OpCast, DType: array.F32, From: array.I64, Dst: 1}})
	place.Regs[2] = 1
	for _, p := range []*Program{&two, &integer, place} {
		require.Panics(t, func() { p.Map(1, 1, make([]float32, 1), 1) })
	}
	require.NotPanics(t, func() { scalars[0].Map(0, 5, nil, 5) })
}
