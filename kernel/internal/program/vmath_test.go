package program

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/opcode"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// functionBounds has the bounds of the functions' comments, in units in the last
// place, and references good to some 50 bits. Where fast is set it takes the
// reference's place when all arguments are tried: it is within 0.005 units in the
// last place of f32, which the tests of fewer arguments check.
var functionBounds = []struct {
	op        opcode.Code
	ulp       float64
	ref, fast func(float64) float64
}{
	{opcode.OpExp, 0.77, math.Exp, fastExp},
	{opcode.OpSigmoid, 2.49, func(x float64) float64 { return overflows(x, vmath.Sigmoid64) }, func(x float64) float64 { return overflows(x, fastSigmoid) }},
	{opcode.OpTanh, 0.77, math.Tanh, fastTanh},
	{opcode.OpErf, 0.96, math.Erf, nil},
	{opcode.OpExpm1, 0.51, math.Expm1, fastExpm1},
	{opcode.OpLog, 0.91, math.Log, vmath.Log32},
	{opcode.OpLog1p, 0.51, math.Log1p, vmath.Log1p32},
	{opcode.OpLog2, 0.51, vmath.Log2, vmath.Log2of32},
	{opcode.OpSin, 0.92, math.Sin, vmath.Sin32},
	{opcode.OpCos, 0.91, math.Cos, vmath.Cos32},
	{opcode.OpTan, 0.51, math.Tan, vmath.Tan32},
	{opcode.OpAtan, 0.51, math.Atan, vmath.Atan32},
	{opcode.OpRsqrt, 0.51, func(x float64) float64 { return 1 / math.Sqrt(x) }, vmath.Rsqrt32},
}

func fastExp(x float64) float64 {
	switch {
	case x > 300:
		return math.Inf(1)
	case x < -300:
		return 0
	}
	return vmath.ExpSmall(x)
}

// fastExpm1 is that of kernels but where they take -1, which the result rounds to.
func fastExpm1(x float64) float64 {
	if x < -18 {
		return fastExp(x) - 1
	}
	return vmath.Expm132(x)
}

// overflows returns the sigmoid by f, except zero where f32 cannot hold e**-x.
func overflows(x float64, f func(float64) float64) float64 {
	if x < -89 || math.IsInf(float64(float32(fastExp(-x))), 1) {
		return 0
	}
	return f(x)
}

func fastSigmoid(x float64) float64 {
	if x >= 0 {
		return 1 / (1 + fastExp(-x))
	}
	e := fastExp(x)
	return e / (1 + e)
}

func fastTanh(x float64) float64 {
	if s := x * x; s < 1.0/4096 {
		return x * (1 + s*(s*(2.0/15-s*(17.0/315))-1.0/3))
	}
	return math.Copysign(1-2/(fastExp(2*math.Abs(x))+1), x)
}

// distance is how far got is from want, in units in the last place of f32 at want.
func distance(got float32, want float64) float64 {
	switch {
	case want != want || got != got:
		if want != want && got != got {
			return 0
		}
		return math.Inf(1)
	case want == 0 && (got != 0 || math.Signbit(want) != math.Signbit(float64(got))):
		return math.Inf(1)
	case math.Abs(want) >= 0x1.ffffffp127: // rounds to infinity
		if float64(got) == math.Inf(1) && want > 0 || float64(got) == math.Inf(-1) && want < 0 {
			return 0
		}
		return math.Inf(1)
	}
	e := max(math.Float64bits(want)>>52&0x7ff, 1023-126)
	return math.Abs(float64(got)-want) * math.Float64frombits((2046+23-e)<<52)
}

// sweep tries f32 arguments by their bits.
type sweep struct {
	op      opcode.Code
	ref     func(float64) float64
	step    uint64
	worst   float64
	at      float32
	differs []string
	mu      sync.Mutex
}

// run tries every step-th argument from bits lo to hi.
func (s *sweep) run(lo, hi uint64) {
	const n = 1 << 12
	x, twin, got := make([]float32, n), make([]float32, n), make([]float32, n)
	worst, at := 0.0, float32(0)
	for lo < hi {
		k := 0
		for ; k < n && lo < hi; k++ {
			x[k] = math.Float32frombits(uint32(lo))
			lo += s.step
		}
		vmath.ApplyTwin(s.op, twin[:k], x[:k])
		for i, v := range x[:k] {
			if s.ref == nil {
				break
			}
			if d := distance(twin[i], s.ref(float64(v))); d > worst {
				worst, at = d, v
			}
		}
		for _, level := range kerneltest.VecLevels() {
			vmath.ApplyFunction(level, s.op, got[:k], x[:k])
			s.compare(twin[:k], got[:k], x)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if worst > s.worst {
		s.worst, s.at = worst, at
	}
}

func (s *sweep) compare(want, got, x []float32) {
	for i, w := range want {
		if math.Float32bits(w) != math.Float32bits(got[i]) && (w == w || got[i] == got[i]) {
			s.mu.Lock()
			s.differs = append(s.differs, s.op.String())
			s.worst, s.at = math.Inf(1), x[i]
			s.mu.Unlock()
			return
		}
	}
}

// TestFunctions: assembly and twin give the same bits, within the bounds, for
// every step-th f32, for all of them with GOFX_NIGHTLY=1.
func TestFunctions(t *testing.T) {
	nightly := os.Getenv("GOFX_NIGHTLY") == "1"
	for _, f := range functionBounds {
		t.Run(f.op.String(), func(t *testing.T) {
			s := &sweep{op: f.op, ref: f.ref, step: 4999}
			if nightly {
				s.step = 1
				if f.fast != nil {
					s.ref = f.fast
				}
				if vmath.Single32(f.op) == nil {
					s.ref = nil // f64 code is off by as much as fast, and half a unit
				}
			}
			var wg sync.WaitGroup
			parts := uint64(runtime.GOMAXPROCS(0))
			for p := range parts {
				wg.Go(func() { s.run(p<<32/parts, (p+1)<<32/parts) })
			}
			wg.Wait()
			require.Empty(t, s.differs, "assembly and twin at %v", s.at)
			require.LessOrEqual(t, s.worst, f.ulp, "at %v (%#x)", s.at, math.Float32bits(s.at))
			t.Logf("%s: %.4f units in the last place at %v", f.op, s.worst, s.at)
		})
	}
	require.Len(t, functionBounds, countFunctions())
}

func countFunctions() int {
	n := 0
	for _, step := range vmath.FunctionSteps {
		if step != 0 {
			n++
		}
	}
	return n
}

// TestFunctionEdges repeats TestFunctions where functions change their ways.
func TestFunctionEdges(t *testing.T) {
	got, want := make([]float32, len(kerneltest.Edges)), make([]float32, len(kerneltest.Edges))
	for _, f := range functionBounds {
		vmath.ApplyTwin(f.op, want, kerneltest.Edges)
		for i, x := range kerneltest.Edges {
			require.LessOrEqual(t, distance(want[i], f.ref(float64(x))), f.ulp, "%s(%v)", f.op, x)
		}
		for _, level := range kerneltest.VecLevels() {
			vmath.ApplyFunction(level, f.op, got, kerneltest.Edges)
			kerneltest.RequireSame(t, want, got, f.op, level)
		}
	}
}

// TestFastReferences: the replacement of a reference is within 0.005 units in
// the last place of f32.
func TestFastReferences(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range functionBounds {
		if f.fast == nil {
			continue
		}
		worst, at := 0.0, 0.0
		for i := range 300000 {
			x := float64(float32(r.NormFloat64() * 20))
			switch i % 3 {
			case 0:
				x = float64(math.Float32frombits(r.Uint32()))
			case 1:
				x = float64(float32(math.Ldexp(r.Float64()*2-1, r.IntN(30)-24)))
			}
			want, got := f.ref(x), f.fast(x)
			if want != want || math.Abs(want) > math.MaxFloat32 {
				require.Zero(t, distance(float32(got), want), "%s(%v)", f.op, x)
				continue
			}
			e := max(math.Float64bits(want)>>52&0x7ff, 1023-126)
			if d := math.Abs(got-want) * math.Float64frombits((2046+23-e)<<52); d > worst {
				worst, at = d, x
			}
		}
		require.LessOrEqual(t, worst, 0.005, "%s(%v)", f.op, at)
	}
}

// powArguments fills x and y with a stratified sample: powers of every size of
// numbers of every size, of numbers near 1, whole and half powers, and edges.
func powArguments(r *rand.Rand, x, y []float32) {
	for i := range x {
		size := (r.Float64()*2 - 1) * 160 // of vmath.Log2 of the result
		switch i % 8 {
		case 0, 1, 2: // any x
			x[i] = math.Float32frombits(r.Uint32() >> 1)
			y[i] = float32(size / math.Log2(float64(x[i])))
		case 3, 4: // near 1
			x[i] = float32(1 + math.Ldexp(r.Float64()*2-1, -r.IntN(24)))
			y[i] = float32(size / math.Log2(float64(x[i])))
		case 5: // whole powers, of negative numbers too
			y[i] = float32(r.IntN(41) - 20)
			x[i] = float32(math.Exp2(size/float64(y[i]))) * float32(1-2*(i>>3&1))
		case 6: // halves
			x[i], y[i] = math.Float32frombits(r.Uint32()>>1), float32(r.IntN(9)-4)/2
		default:
			x[i], y[i] = kerneltest.Edges[r.IntN(len(kerneltest.Edges))], kerneltest.Edges[r.IntN(len(kerneltest.Edges))]
			if i&8 != 0 {
				x[i], y[i] = math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())
			}
		}
	}
}

// TestPow holds pow to 0.51 units in the last place on the sample that
// powArguments describes, half a million pairs, or 2**28 with GOFX_NIGHTLY=1;
// the reference has a logarithm of 60 bits.
func TestPow(t *testing.T) {
	const n = 1 << 14
	turns := 32
	if os.Getenv("GOFX_NIGHTLY") == "1" {
		turns = 1 << 14
	}
	p := Program{Inputs: []array.DType{array.F32, array.F32}, Outputs: []array.DType{array.F32}, Regs: [3]int{3, 0, 0}, Code: []Instr{
		{Op: opcode.OpInput, DType: array.F32, Dst: 0, Imm: 0}, {Op: opcode.OpInput, DType: array.F32, Dst: 1, Imm: 1},
		{Op: opcode.OpPow, DType: array.F32, Dst: 2, A: 0, B: 1}, {Op: opcode.OpOutput, DType: array.F32, A: 2},
	}}
	r := rand.New(rand.NewPCG(11, 12))
	in := []*array.Array{array.New(array.F32, n), array.New(array.F32, n)}
	want, got := []*array.Array{array.New(array.F32, n)}, []*array.Array{array.New(array.F32, n)}
	x, y, z := array.Raw[float32](in[0]), array.Raw[float32](in[1]), array.Raw[float32](want[0])
	w := &par.Workspace{}
	worst := 0.0
	for range turns {
		powArguments(r, x, y)
		p.run(cpu.Generic, w, wholeOut(want), in, 0, n)
		for i := range z {
			d := distance(z[i], vmath.PowFloat(float64(x[i]), float64(y[i])))
			require.LessOrEqual(t, d, 0.51, "pow(%v, %v)", x[i], y[i])
			worst = max(worst, d)
		}
		for _, level := range kerneltest.VecLevels() {
			p.run(level, w, wholeOut(got), in, 0, n)
			kerneltest.RequireEqualArrays(t, want[0], got[0], level)
		}
	}
	t.Logf("pow: %.4f units in the last place", worst)
}
