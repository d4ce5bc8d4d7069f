package shape

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/diag"
)

func mustDim(t require.TestingT, s string) Dim {
	d, err := ParseDim(s)
	require.NoError(t, err, s)
	return d
}

func TestCanonicalForm(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"3", "3"}, {"-3", "-3"}, {"N", "N"}, {"2*N+1", "2*N+1"}, {"1+N*2", "2*N+1"},
		{"(H-1)//2+1", "(H-1)//2+1"}, {"(H+1)//2", "(H-1)//2+1"}, {"(H-1)//2", "(H-1)//2"},
		{"(2*N)//2", "N"}, {"(4*N+2)//2", "2*N+1"}, {"(4*N+3)//2", "2*N+1"}, {"N//1", "N"},
		{"N-N", "0"}, {"0*N", "0"}, {"N*M-M*N", "0"}, {"(N+1)*(N-1)", "N*N-1"},
		{"N//N", "1"}, {"(N*M)//N", "M"}, {"(N*12*64)//(64*12)", "N"},
		{"(N*M+1)//N", "1//N+M"}, {"(N*M)//(N*K)", "M//K"}, {"(2*N+4)//(6*K)", "(N+2)//(3*K)"},
		{"(3*N)//2", "N+N//2"}, {"3*(N//2)", "3*(N//2)"}, {"3*N//2", "N+N//2"}, {"-(N//2)", "-(N//2)"},
		{"(2*N+3)//4", "(N-1)//2+1"}, {"((H-1)//2+1-1)//2+1", "(H-1)//4+1"}, {"N//2//M", "N//(2*M)"},
		{"(N//M)//2", "N//(2*M)"}, {"-7//2", "-3"}, {"(-7)//2", "-4"}, {"7//(-2)", "-4"}, {"N//(-2)", "-N+N//2"},
		{"(N*N-M*M)//(N+M)", "-M+N"}, {"0//N", "0"}, {"7//N", "7//N"}, {"(0-7)//N", "(-7)//N"},
		{"( N + 1 ) * 2", "2*N+2"}, {"?", "?"}, {"N*(M//(K+1))", "(M//(K+1))*N"},
		{"9223372036854775807", "9223372036854775807"},
	} {
		d := mustDim(t, c.in)
		require.Equal(t, c.want, d.String(), c.in)
		require.True(t, mustDim(t, c.want).Same(d), c.in)
	}
}

func TestUnknownAndOverflow(t *testing.T) {
	n, big := Sym("N"), Const(math.MaxInt)
	for name, d := range map[string]Dim{
		"add unknown": n.Add(Unknown), "mul zero": Const(0).Mul(Unknown), "div": Unknown.FloorDivInt(2),
		"number overflow": big.AddInt(1), "product overflow": big.MulInt(2), "coefficient": n.Mul(big).MulInt(2),
		"sum of coefficients": n.Mul(big).Add(n), "minimum": Const(math.MinInt), "negated": Const(-math.MaxInt).AddInt(-1),
		"zero divisor": n.FloorDivInt(0), "zero by zero": Const(0).FloorDivInt(0), "sub": Unknown.Sub(Unknown),
	} {
		require.True(t, d.IsUnknown(), name)
	}
	require.False(t, Unknown.Equal(Unknown))
	require.True(t, Unknown.Same(Unknown))
	require.False(t, n.Equal(Sym("M")))
	d := Const(1)
	for range maxDegree {
		d = d.Mul(n)
	}
	require.False(t, d.IsUnknown())
	require.True(t, d.Mul(n).IsUnknown(), "degree limit")
}

func TestArithmeticIsChecked(t *testing.T) {
	edge := []int64{0, 1, -1, 2, 3, 1 << 31, -1 << 31, 1<<32 + 1, math.MaxInt64, math.MaxInt64 - 1, -math.MaxInt64, math.MaxInt64 / 2}
	fits := func(f float64) bool { return math.Abs(f) < math.MaxInt64 }
	for _, a := range edge {
		for _, b := range edge {
			if f := float64(a) * float64(b); math.Abs(f) < 9.2e18 || math.Abs(f) > 9.3e18 {
				p, ok := mulOv(a, b)
				require.Equal(t, fits(f), ok, "%d*%d", a, b)
				if ok {
					require.Equal(t, a*b, p)
				}
			}
			s, ok := addOv(a, b)
			require.Equal(t, s-b == a && (s < 0 == (a < 0) || s < 0 == (b < 0)) && s != math.MinInt64, ok, "%d+%d", a, b)
			_, ok2 := subOv(a, -b)
			require.Equal(t, ok, ok2, "%d-(-%d)", a, b)
		}
	}
}

func TestDivExact(t *testing.T) {
	for _, c := range []struct {
		a, b, q string
		ok      bool
	}{
		{"N*12*64", "64*12", "N", true}, {"N*768", "N", "768", true}, {"N*M+N", "M+1", "N", true}, {"12", "4", "3", true},
		{"0", "N", "0", true}, {"N//2*M", "M", "N//2", true}, {"N*N*M-M", "N-1", "M*N+M", true},
		{"N", "2", "", false}, {"7", "2", "", false}, {"N+1", "N", "", false}, {"N", "0", "", false}, {"N", "M", "", false}, {"3", "N", "", false},
		{"?", "2", "", false}, {"2", "?", "", false},
	} {
		q, ok := mustDim(t, c.a).DivExact(mustDim(t, c.b))
		require.Equal(t, c.ok, ok, c.a+" / "+c.b)
		if ok {
			require.Equal(t, c.q, q.String())
		}
	}
}

func TestBindSymbolsEval(t *testing.T) {
	d := mustDim(t, "((H-1)//S+1)*N")
	require.Equal(t, []string{"H", "N", "S"}, d.Symbols())
	require.True(t, d.Uses("S"))
	require.False(t, d.Uses("T"))
	b := d.Bind(func(s string) Dim {
		switch s {
		case "H":
			return Sym("K").MulInt(2).AddInt(1)
		case "S":
			return Const(2)
		}
		return Sym(s)
	})
	require.Equal(t, "K*N+N", b.String())
	require.True(t, d.Bind(func(string) Dim { return Unknown }).IsUnknown())
	require.True(t, Const(4).Bind(func(string) Dim { return Unknown }).Is(4))
	require.True(t, Unknown.Bind(func(string) Dim { return Const(1) }).IsUnknown())
	env := map[string]int{"H": 224, "S": 2, "N": 3}
	look := func(s string) (int, bool) { v, ok := env[s]; return v, ok }
	v, err := d.Eval(look)
	require.NoError(t, err)
	require.Equal(t, 112*3, v)
	env["S"] = 0
	_, err = d.Eval(look)
	require.ErrorIs(t, err, CodeEval)
	require.ErrorContains(t, err, "zero")
	delete(env, "S")
	_, err = d.Eval(look)
	require.ErrorContains(t, err, "symbol S")
	_, err = Unknown.Eval(look)
	require.ErrorContains(t, err, "unknown")
	env["N"] = math.MaxInt
	_, err = mustDim(t, "N*N").Eval(look)
	require.ErrorContains(t, err, "64-bit")
	_, err = mustDim(t, "2*N+N*2+1").Eval(look)
	require.ErrorContains(t, err, "64-bit")
}

func TestSym(t *testing.T) {
	for _, s := range []string{"", "1N", "a b", "é", "a-b", "?", string(make([]byte, 300))} {
		require.False(t, ValidSymbol(s), s)
		err := func() (err error) { defer func() { err = recover().(error) }(); Sym(s); return }()
		require.ErrorIs(t, err, CodeText)
	}
	for _, s := range []string{"N", "_", "batch_size", "a1"} {
		require.True(t, ValidSymbol(s))
		n, ok := Sym(s).IsSymbol()
		require.True(t, ok)
		require.Equal(t, s, n)
	}
	_, ok := Sym("N").MulInt(2).IsSymbol()
	require.False(t, ok)
	_, ok = Unknown.IsSymbol()
	require.False(t, ok)
}

func TestNumbersDoNotAllocate(t *testing.T) {
	a, b := Const(7), Const(3)
	sink := Dim{}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		sink = a.Add(b).Mul(b).Sub(a).FloorDiv(b).AddInt(1).MulInt(2).FloorDivInt(3)
		q, _ := sink.DivExact(Const(1))
		if n, ok := q.Int(); !ok || n < 0 || !sink.Equal(q) {
			panic("wrong")
		}
	}))
}

// tree is an expression built twice: as a Dim and as the numbers it must have
// under each of a few bindings of its symbols.
type tree struct {
	d   Dim
	val []int64
	ok  bool // no division by zero under any binding
}

var bindings = []map[string]int{{"A": 1, "B": 1, "C": 1}, {"A": 2, "B": 3, "C": 5}, {"A": 7, "B": 4, "C": 6}, {"A": 31, "B": 17, "C": 2}}

func drawTree(t *rapid.T, depth int) tree {
	if depth == 0 || rapid.IntRange(0, 4).Draw(t, "leaf") == 0 {
		if s := rapid.SampledFrom([]string{"A", "B", "C", ""}).Draw(t, "sym"); s != "" {
			x := tree{d: Sym(s), ok: true}
			for _, b := range bindings {
				x.val = append(x.val, int64(b[s]))
			}
			return x
		}
		n := rapid.IntRange(-9, 9).Draw(t, "n")
		return tree{Const(n), []int64{int64(n), int64(n), int64(n), int64(n)}, true}
	}
	a, b := drawTree(t, depth-1), drawTree(t, depth-1)
	op := rapid.SampledFrom([]string{"+", "-", "*", "//", "min", "max"}).Draw(t, "op")
	x := tree{ok: a.ok && b.ok, val: make([]int64, len(bindings))}
	for i := range x.val {
		switch p, q := a.val[i], b.val[i]; op {
		case "+":
			x.val[i] = p + q
		case "-":
			x.val[i] = p - q
		case "*":
			x.val[i] = p * q
		case "min":
			x.val[i] = min(p, q)
		case "max":
			x.val[i] = max(p, q)
		default:
			v, ok := floorDivOv(p, q)
			x.val[i], x.ok = v, x.ok && ok
		}
	}
	switch op {
	case "+":
		x.d = a.d.Add(b.d)
	case "-":
		x.d = a.d.Sub(b.d)
	case "*":
		x.d = a.d.Mul(b.d)
	case "min":
		x.d = a.d.Min(b.d)
	case "max":
		x.d = a.d.Max(b.d)
	default:
		x.d = a.d.FloorDiv(b.d)
	}
	return x
}

// Simplification keeps the value, and the text reads back as the same expression.
func TestSimplifiedExpressionsKeepTheirValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTree(t, 5)
		if x.d.IsUnknown() || !x.ok {
			return
		}
		require.True(t, mustDim(t, x.d.String()).Same(x.d), x.d.String())
		for i, b := range bindings {
			got, err := x.d.Eval(func(s string) (int, bool) { return b[s], true })
			require.NoError(t, err, x.d.String())
			require.Equal(t, x.val[i], int64(got), "%s with %v", x.d, b)
			num := x.d.Bind(func(s string) Dim { return Const(b[s]) })
			require.True(t, num.Is(got), "%s with %v is %s", x.d, b, num)
		}
	})
}

func TestRingLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawTree(t, 2).d, drawTree(t, 2).d, drawTree(t, 2).d
		if a.IsUnknown() || b.IsUnknown() || c.IsUnknown() {
			return
		}
		require.True(t, a.Add(b).Same(b.Add(a)))
		require.True(t, a.Mul(b).Same(b.Mul(a)))
		require.True(t, a.Add(b).Add(c).Same(a.Add(b.Add(c))))
		require.True(t, a.Mul(b).Mul(c).Same(a.Mul(b.Mul(c))))
		require.True(t, a.Mul(b.Add(c)).Same(a.Mul(b).Add(a.Mul(c))))
		require.True(t, a.Sub(a).Is(0))
		if !b.Is(0) {
			q, ok := a.Mul(b).DivExact(b)
			require.True(t, ok, "%s by %s", a.Mul(b), b)
			require.True(t, q.Same(a))
			require.True(t, a.Mul(b).Add(c).FloorDiv(Const(1)).Same(a.Mul(b).Add(c)))
		}
		k := Const(rapid.IntRange(1, 9).Draw(t, "k"))
		require.True(t, a.Mul(k).Add(c).FloorDiv(k).Same(a.Add(c.FloorDiv(k))), "(%s*%s+%s)//%s", a, k, c, k)
	})
}

func TestEvalErrorIsDiag(t *testing.T) {
	_, err := Sym("N").Eval(func(string) (int, bool) { return 0, false })
	var e *diag.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, e.Msg, "size N needs symbol N")
}
