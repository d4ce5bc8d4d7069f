package program

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/reduce"
)

// reduceKinds are kinds of Reduce that a type of elements has, and the type of
// the result.
func reduceKinds(d array.DType) map[string]array.DType {
	if d == array.Bool {
		return map[string]array.DType{"any": array.Bool, "all": array.Bool, "sum": array.I64}
	}
	kinds := map[string]array.DType{"sum": d, "prod": d, "max": d, "min": d}
	if d.IsFloat() {
		kinds["mean"] = d
		kinds["sum"] = array.F32
	}
	return kinds
}

// inTwoSteps is the definition of ElementwiseReduce in two steps.
func inTwoSteps(s ElementwiseReduce, out, in []*array.Array) {
	w := &par.Workspace{}
	var elems []*array.Array
	for _, d := range s.Program.Outputs {
		elems = append(elems, array.New(d, s.Shape...))
	}
	Elementwise{s.Program}.Run(w, elems, in)
	for i, k := range s.Kinds {
		if k == "" {
			array.Copy(out[i], elems[i])
		} else {
			reduce.Reduce{Kind: k, Dims: s.Dims}.Run(w, out[i:i+1], elems[i:i+1])
		}
	}
}

// checkFused compares the bits with those of two steps, on one thread and on more.
func checkFused(t *testing.T, s ElementwiseReduce, in []*array.Array, types []array.DType) {
	t.Helper()
	var shape []int
	for i, n := range s.Shape {
		if len(s.Dims) > 0 && !slices.Contains(s.Dims, i) {
			shape = append(shape, n)
		}
	}
	outputs := func() (out []*array.Array) {
		for i, k := range s.Kinds {
			if k == "" {
				out = append(out, array.New(types[i], s.Shape...))
			} else {
				out = append(out, array.New(types[i], shape...))
			}
		}
		return out
	}
	want := outputs()
	inTwoSteps(s, want, in)
	for _, threads := range []int{1, 2, 5} {
		got := outputs()
		s.Run(&par.Workspace{Threads: threads}, got, in)
		for i := range got {
			kerneltest.RequireEqualArrays(t, want[i], got[i], threads, s.Shape, s.Dims, s.Kinds[i])
		}
	}
}

func TestElementwiseReduceIsTwoSteps(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(21, 3))
		rounds := 150
		if testing.Short() {
			rounds = 25
		}
		for k := range rounds {
			p := newProgram(r, 1+k%15)
			s := ElementwiseReduce{Program: p, Shape: []int{1 + r.IntN(5), 1 + r.IntN(40), 1, 1 + r.IntN(700)}}
			for d := range s.Shape {
				if r.IntN(2) == 0 {
					s.Dims = append(s.Dims, d)
				}
			}
			var in []*array.Array
			for _, d := range p.Inputs {
				shape := slices.Clone(s.Shape)
				for i := range shape {
					if r.IntN(6) == 0 {
						shape[i] = 1
					}
				}
				in = append(in, kerneltest.StridedArray(r, d, shape))
			}
			var types []array.DType
			for _, d := range p.Outputs {
				kinds := reduceKinds(d)
				names := append([]string{""}, slices.Sorted(keysOf(kinds))...)
				kind := names[r.IntN(len(names))]
				s.Kinds = append(s.Kinds, kind)
				if kind == "" {
					types = append(types, d)
				} else {
					types = append(types, kinds[kind])
				}
			}
			checkFused(t, s, in, types)
		}
	})
}

func keysOf[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// sumOfProducts multiplies two inputs of type d.
func sumOfProducts(d array.DType) Program {
	c := opcode.RegClassOf(d)
	p := Program{Inputs: []array.DType{d, d}, Outputs: []array.DType{d}, Code: []Instr{
		{Op: opcode.OpInput, DType: d, Dst: 0, Imm: 0},
		{Op: opcode.OpInput, DType: d, Dst: 1, Imm: 1},
		{Op: opcode.OpMul, DType: d, Dst: 2, A: 0, B: 1},
		{Op: opcode.OpOutput, DType: d, A: 2, Imm: 0},
	}}
	p.Regs[c] = 3
	return p
}

// Rows longer than a span, of all element types, and blocks that slabs cut.
func TestElementwiseReduceOfLongRows(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for _, c := range []struct {
		shape, dims []int
	}{
		{[]int{3*reduce.RowSpan + 77}, nil},
		{[]int{2, reduce.RowSpan + 513}, []int{1}},
		{[]int{3, 2*reduce.RowSpan + 1}, []int{0}},
		{[]int{reduce.RowSpan / 3, 7}, []int{0}},
		{[]int{reduce.RowSpan / 3, 7}, []int{1}},
		{[]int{5, 999, 21}, []int{0, 2}},
		{[]int{5, 999, 21}, []int{1}},
		{[]int{2, reduce.RowSpan}, []int{0, 1}},
		{[]int{1, 1}, []int{0}},
		{[]int{4, 0, 3}, []int{0}},
		{[]int{4, 0, 3}, []int{1}},
		{[]int{}, nil},
	} {
		types := []array.DType{array.F32, array.F64, array.F16, array.I64, array.U64, array.I8}
		if testing.Short() {
			types = types[:2]
		}
		for _, d := range types {
			in := []*array.Array{array.New(d, c.shape...), array.New(d, c.shape...)}
			for _, a := range in {
				for i := range a.Len() {
					if d.IsFloat() {
						array.SetFloat64At(a, i, r.NormFloat64())
					} else {
						array.SetInt64At(a, i, r.Int64()>>(r.IntN(64)))
					}
				}
			}
			for kind, as := range reduceKinds(d) {
				if in[0].Len() == 0 && (kind == "max" || kind == "min") {
					continue
				}
				checkFused(t, ElementwiseReduce{sumOfProducts(d), c.shape, []string{kind}, c.dims}, in, []array.DType{as})
			}
		}
	}
}

func TestElementwiseReduceRefuses(t *testing.T) {
	p := sumOfProducts(array.F32)
	x := array.New(array.F32, 4, 6)
	for name, c := range map[string]struct {
		s       ElementwiseReduce
		out, in []*array.Array
	}{
		"result of another size":           {ElementwiseReduce{p, []int{4, 6}, []string{"sum"}, []int{1}}, []*array.Array{array.New(array.F32, 6)}, []*array.Array{x, x}},
		"stored in another shape":          {ElementwiseReduce{p, []int{4, 6}, []string{""}, []int{1}}, []*array.Array{array.New(array.F32, 24)}, []*array.Array{x, x}},
		"an input that does not broadcast": {ElementwiseReduce{p, []int{4, 5}, []string{"sum"}, []int{1}}, []*array.Array{array.New(array.F32, 4)}, []*array.Array{x, x}},
		"a kind too few":                   {ElementwiseReduce{p, []int{4, 6}, nil, []int{1}}, []*array.Array{array.New(array.F32, 4)}, []*array.Array{x, x}},
		"no such kind":                     {ElementwiseReduce{p, []int{4, 6}, []string{"median"}, []int{1}}, []*array.Array{array.New(array.F32, 4)}, []*array.Array{x, x}},
		"greatest of none": {ElementwiseReduce{p, []int{4, 0}, []string{"max"}, []int{1}}, []*array.Array{array.New(array.F32, 4)},
			[]*array.Array{array.New(array.F32, 4, 0), array.New(array.F32, 4, 0)}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() { require.IsType(t, &diag.Error{}, recover()) }()
			c.s.Run(&par.Workspace{}, c.out, c.in)
		})
	}
}

func TestElementwiseReduceDoesNotAllocate(t *testing.T) {
	x, y := array.New(array.F32, 300, 500), array.New(array.F32, 500)
	s := ElementwiseReduce{sumOfProducts(array.F32), []int{300, 500}, []string{"sum"}, []int{1}}
	kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32, 300)}, []*array.Array{x, y})
	s.Dims = nil
	kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32)}, []*array.Array{x, y})
}

// Elements that are gathered come in blocks, which no chunk cuts: a run that
// began inside one would panic.
func TestElementwiseOnThreads(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 1))
		for range 12 {
			n := 40000 + r.IntN(200000)
			in := []*array.Array{stridedOf(r, n), stridedOf(r, n)}
			want, got := array.New(array.F32, n), array.New(array.F32, n)
			p := sumOfProducts(array.F32)
			for range 4 { // more work for each element, so that there are chunks
				p.Code = slices.Insert(p.Code, len(p.Code)-1, Instr{Op: opcode.OpTanh, DType: array.F32, Dst: 2, A: 2})
			}
			Elementwise{p}.Run(&par.Workspace{}, []*array.Array{want}, in)
			for _, threads := range []int{2, 3} {
				Elementwise{p}.Run(&par.Workspace{Threads: threads}, []*array.Array{got}, in)
				kerneltest.RequireEqualArrays(t, want, got, threads, n)
			}
		}
	})
}

// stridedOf is an array with gaps.
func stridedOf(r *rand.Rand, n int) *array.Array {
	a := kerneltest.RandomArray(r, array.F32, []int{n, 2})
	v := &array.Array{}
	v.SetLayout(a, []int{n}, []int{2}, 1)
	return v
}
