package plan_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph/guard"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// chain makes a plan of steps that each write one buffer of a type and read
// earlier ones; operands[i] are those of step i, -1 being the input.
func chain(types []shape.Type, operands [][]int, symbols ...guard.Symbol) *plan.Plan {
	p := &plan.Plan{Name: "chain", Symbols: symbols, Inputs: []int{0},
		Buffers: []plan.Buffer{{Name: "x", Kind: plan.Input, Type: shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Sym("M")))}}}
	for i, t := range types {
		in := []int{0}
		for _, k := range operands[i] {
			in = append(in, k+1)
		}
		p.Buffers = append(p.Buffers, plan.Buffer{Name: "t" + strconv.Itoa(i), Kind: plan.Temp, Type: t})
		p.Steps = append(p.Steps, plan.Step{Kernel: &kernel.Concat{}, In: in, Out: []int{i + 1}, Op: "cat"})
	}
	p.Buffers[len(types)].Kind = plan.Output
	p.Outputs = []int{len(types)}
	p.Live()
	p.Place()
	return p
}

var nm = []guard.Symbol{{Name: "N"}, {Name: "M", Axis: 1}}

func TestNoTwoLiveBuffersOverlap(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(r, "steps")
		types := make([]shape.Type, n)
		operands := make([][]int, n)
		dims := []shape.Dim{shape.Sym("N"), shape.Sym("M"), shape.Sym("N").MulInt(3).AddInt(1), shape.Sym("M").FloorDivInt(2)}
		for i := range types {
			var d []shape.Dim
			for range rapid.IntRange(0, 3).Draw(r, "rank") {
				if k := rapid.IntRange(-8, 3).Draw(r, "dim"); k >= 0 {
					d = append(d, dims[k])
				} else {
					d = append(d, shape.Const(rapid.IntRange(0, 40).Draw(r, "size")))
				}
			}
			types[i] = shape.TensorType(rapid.SampledFrom([]array.DType{array.F32, array.I64, array.Bool, array.F16}).Draw(r, "dtype"), shape.Of(d...))
			for range rapid.IntRange(0, 3).Draw(r, "operands") {
				if i > 0 {
					operands[i] = append(operands[i], rapid.IntRange(0, i-1).Draw(r, "operand"))
				}
			}
		}
		p := chain(types, operands, nm...)
		require.NoError(r, p.Check())
		var s plan.Sizes
		env := map[string]int{"N": rapid.IntRange(0, 70).Draw(r, "N"), "M": rapid.IntRange(0, 70).Draw(r, "M")}
		require.NoError(r, p.Size(&s, plan.Values(env)))
		require.GreaterOrEqual(r, s.Arena, p.Need(&s))
		for step, held := range p.Held(&s) {
			for i, b := range p.Buffers {
				if b.Kind == plan.Temp && !b.Within && b.First <= step && step <= b.Last {
					held -= s.Bytes[i]
				}
			}
			require.Zero(r, held, "step %d", step)
		}
	})
}

// TestArenaIsNearTheLeast measures the assignment on shapes of networks: a chain,
// residual blocks, attention with all heads.
func TestArenaIsNearTheLeast(t *testing.T) {
	f32 := func(n ...int) shape.Type { return shape.TensorType(array.F32, shape.ConstDims(n...)) }
	networks := map[string]func() ([]shape.Type, [][]int){
		"chain": func() (types []shape.Type, operands [][]int) {
			for i := range 30 {
				types = append(types, f32(8, 16+i%7*24, 40-i))
				operands = append(operands, []int{max(i-1, 0)}[:min(i, 1)])
			}
			return
		},
		"residual": func() (types []shape.Type, operands [][]int) {
			for i := range 48 {
				c := 64 << (i / 12)
				types = append(types, f32(1, c, 56>>(i/12), 56>>(i/12)))
				in := []int{max(i-1, 0)}[:min(i, 1)]
				if i%3 == 2 {
					in = append(in, i-2)
				}
				operands = append(operands, in)
			}
			return
		},
		"attention": func() (types []shape.Type, operands [][]int) {
			for block := range 6 {
				at := block * 10
				base := max(at-1, 0)
				add := func(t shape.Type, in ...int) { types, operands = append(types, t), append(operands, in) }
				if at == 0 {
					add(f32(2, 128, 768))
				} else {
					add(f32(2, 128, 768), base)
				}
				add(f32(2, 128, 768), at)             // q
				add(f32(2, 128, 768), at)             // k
				add(f32(2, 128, 768), at)             // v
				add(f32(2, 12, 128, 128), at+1, at+2) // scores
				add(f32(2, 12, 128, 128), at+4)       // probabilities
				add(f32(2, 128, 768), at+5, at+3)     // context
				add(f32(2, 128, 768), at+6, at)       // residual
				add(f32(2, 128, 3072), at+7)          // up
				add(f32(2, 128, 768), at+8, at+7)     // down
			}
			return
		},
	}
	for name, f := range networks {
		types, operands := f()
		p := chain(types, operands, nm...)
		require.NoError(t, p.Check(), name)
		var s plan.Sizes
		require.NoError(t, p.Size(&s, plan.Values(map[string]int{"N": 1, "M": 1})))
		require.LessOrEqual(t, float64(s.Arena), 1.15*float64(p.Need(&s)), name)
		total := 0
		for i, b := range p.Buffers {
			if b.Kind == plan.Temp {
				total += s.Bytes[i]
			}
		}
		require.Less(t, s.Arena, total/2, "%s: memory is used again", name)
	}
}

func TestBuffersOfOneSymbolShareAPart(t *testing.T) {
	n := shape.Sym("N")
	f32 := func(d ...shape.Dim) shape.Type { return shape.TensorType(array.F32, shape.Of(d...)) }
	var types []shape.Type
	var operands [][]int
	for i := range 12 {
		types = append(types, f32(n, shape.Const(16+i%2*32)))
		operands = append(operands, []int{max(i-1, 0)}[:min(i, 1)])
	}
	p := chain(types, operands, nm...)
	require.Equal(t, "256*N", p.Arena.String(), "64*N bytes and 192*N bytes at a time")
}

func TestCheckFindsBrokenPlans(t *testing.T) {
	f32 := shape.TensorType(array.F32, shape.ConstDims(16))
	good := func() *plan.Plan {
		return chain([]shape.Type{f32, f32, f32, f32}, [][]int{nil, {0}, {0, 1}, {2}}, nm...)
	}
	require.NoError(t, good().Check())
	for name, breakIt := range map[string]func(p *plan.Plan){
		"overlap":              func(p *plan.Plan) { p.Buffers[2].Offset = p.Buffers[1].Offset },
		"outside the arena":    func(p *plan.Plan) { p.Arena = shape.Const(64) },
		"misaligned":           func(p *plan.Plan) { p.Buffers[1].Offset = shape.Const(4) },
		"read before it is":    func(p *plan.Plan) { p.Steps[0].In = []int{3} },
		"reads no buffer":      func(p *plan.Plan) { p.Steps[1].In = []int{9} },
		"writes input":         func(p *plan.Plan) { p.Steps[1].Out = []int{0} },
		"written twice":        func(p *plan.Plan) { p.Steps[2].Out = []int{2} },
		"memory is not in use": func(p *plan.Plan) { p.Buffers[1].Last = 0 },
		"output not computed":  func(p *plan.Plan) { p.Outputs = []int{2} },
		"view of nothing":      func(p *plan.Plan) { p.Buffers[2].Kind, p.Buffers[2].Of = plan.View, 2 },
		"view that is none":    func(p *plan.Plan) { p.Steps[1].View = true },
		"unknown field":        func(p *plan.Plan) { p.Steps[1].Sizes = []op.SizeField{{Path: op.Path{9}, Size: shape.Sym("N")}} },
		"unknown element type": func(p *plan.Plan) { p.Buffers[2].Type = shape.Unranked(array.F32) },
		"weight without path":  func(p *plan.Plan) { p.Buffers[2].Kind = plan.Weight },
	} {
		p := good()
		breakIt(p)
		require.ErrorIs(t, p.Check(), diag.Internal, name)
	}
}

func TestListing(t *testing.T) {
	n := shape.Sym("N")
	p := &plan.Plan{Name: "two", Symbols: []guard.Symbol{{Name: "N"}}, Inputs: []int{0}, Outputs: []int{4},
		Guards: []guard.Need{{Relation: shape.Equality(n, shape.Sym("N"))}},
		Buffers: []plan.Buffer{
			{Name: "x", Kind: plan.Input, Type: shape.TensorType(array.F32, shape.Of(n, shape.Const(32)))},
			{Name: "w", Kind: plan.Weight, Path: "fc.weight", Type: shape.TensorType(array.F32, shape.ConstDims(32, 32))},
			{Name: "fc", Kind: plan.Temp, Type: shape.TensorType(array.F32, shape.Of(n, shape.Const(32)))},
			{Name: "cut", Kind: plan.View, Of: 2, Type: shape.TensorType(array.F32, shape.Of(n, shape.Const(16)))},
			{Name: "out", Kind: plan.Output, Type: shape.TensorType(array.F32, shape.Of(n, shape.Const(16)))},
		},
		Steps: []plan.Step{
			{Kernel: &kernel.Linear{}, In: []int{0, 1, -1}, Out: []int{2}, Op: "linear", Pos: diag.Pos{File: "m.go", Line: 7}},
			{Kernel: &kernel.Slice{Dim: 1, Stop: 16, Step: 1}, Sizes: []op.SizeField{{Path: op.Path{1}, Size: n}}, In: []int{2}, Out: []int{3}, View: true},
			{Kernel: &kernel.Copy{}, In: []int{3}, Out: []int{4}},
		}}
	p.Live()
	p.Place()
	require.NoError(t, p.Check())
	require.Empty(t, cmp.Diff(`plan two
  symbol N = dim(x, 0)
  guard N == N
  input x : f32[N,32]
  weight w : f32[32,32] from "fc.weight"
  temp fc : f32[N,32] at 0, 128*N bytes, steps 0-2
  view cut : f32[N,16] in fc, steps 1-2
  output out : f32[N,16]
  arena 128*N bytes
  0: fc = Linear{} (x, w, _) # linear at m.go:7
  1: cut = view Slice{Dim: 1, Stop: 16, Step: 1} with Start = N (fc)
  2: out = Copy{} (cut)
  return out
`, p.String()))
}

// nested is a step whose sizes lie deeper than in its fields.
type nested struct {
	kernel.Copy
	Name    string
	Windows []struct{ From, To int }
	Corner  [2]int
}

func TestSizesAreSetInACopy(t *testing.T) {
	n := shape.Sym("N")
	k := &nested{Windows: make([]struct{ From, To int }, 2)}
	u := op.WithSizes(k, op.Size(&k.Windows[1].To, n), op.Size(&k.Corner[1], n.AddInt(1)),
		op.Size(&k.Windows[1].From, shape.Const(3)), op.Size(&k.Windows[0].From, n.FloorDivInt(2))).(*op.Unsized)
	require.Equal(t, 3, k.Windows[1].From, "known")
	require.Equal(t, []op.SizeField{
		{Path: op.Path{2, 1, 1}, Size: n}, {Path: op.Path{3, 1}, Size: n.AddInt(1)}, {Path: op.Path{2, 0, 0}, Size: n.FloorDivInt(2)},
	}, u.Sizes)
	var names []string
	for _, f := range u.Sizes {
		names = append(names, f.Path.Selector(u.Step))
	}
	require.Equal(t, []string{"Windows[1].To", "Corner[1]", "Windows[0].From"}, names)

	s := plan.Step{Kernel: u.Step, Sizes: u.Sizes}
	one, fields, err := s.Instance()
	require.NoError(t, err)
	two, others, err := s.Instance()
	require.NoError(t, err)
	for i := range fields {
		*fields[i], *others[i] = 7+i, 40+i
	}
	require.Equal(t, &nested{Windows: []struct{ From, To int }{{9, 0}, {3, 7}}, Corner: [2]int{0, 8}}, one)
	require.Equal(t, &nested{Windows: []struct{ From, To int }{{42, 0}, {3, 40}}, Corner: [2]int{0, 41}}, two)
	require.Equal(t, &nested{Windows: []struct{ From, To int }{{}, {3, 0}}}, k, "the plan's own stays")

	for _, bad := range []op.Path{{}, {1}, {2}, {2, 2, 0}, {2, 0, 2}, {3, -1}, {3, 0, 0}, {4}} {
		s.Sizes = []op.SizeField{{Path: bad, Size: n}}
		_, _, err := s.Instance()
		require.Error(t, err, bad)
	}
}

func TestSizesThatCannotBe(t *testing.T) {
	n, m := shape.Sym("N"), shape.Sym("M")
	p := chain([]shape.Type{shape.TensorType(array.F32, shape.Of(n.Sub(m))), shape.TensorType(array.F64, shape.Of(n, n, n))}, [][]int{nil, {0}}, nm...)
	var s plan.Sizes
	for _, c := range []struct {
		env  map[string]int
		want string
	}{
		{map[string]int{"N": 1, "M": 2}, "node %t0: cat: size -M+N of f32[-M+N] is -1, expected 0 or more"},
		{map[string]int{"N": 1}, "needs symbol M"},
		{map[string]int{"N": 1 << 40, "M": 0}, "takes more bytes than any machine holds"},
		{map[string]int{"N": 1 << 62, "M": 0}, "takes more bytes than any machine holds"},
	} {
		require.ErrorContains(t, p.Size(&s, plan.Values(c.env)), c.want)
	}
	require.NoError(t, p.Size(&s, plan.Values(map[string]int{"N": 5, "M": 2})))
	require.Equal(t, []int{5, 5, 5}, s.Shapes[2])
}
