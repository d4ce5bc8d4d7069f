package shape

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rebuild makes a size of itself.
type rebuild struct{}

func (rebuild) Const(n int64) Dim      { return Const(int(n)) }
func (rebuild) Symbol(name string) Dim { return Sym(name) }
func (rebuild) Neg(x Dim) Dim          { return Const(0).Sub(x) }
func (rebuild) Add(x, y Dim) Dim       { return x.Add(y) }
func (rebuild) Sub(x, y Dim) Dim       { return x.Sub(y) }
func (rebuild) Mul(x, y Dim) Dim       { return x.Mul(y) }
func (rebuild) FloorDiv(x, y Dim) Dim  { return x.FloorDiv(y) }
func (rebuild) Min(x, y Dim) Dim       { return x.Min(y) }

// compute makes a number of a size.
type compute map[string]int

func (compute) Const(n int64) int64        { return n }
func (c compute) Symbol(name string) int64 { return int64(c[name]) }
func (compute) Neg(x int64) int64          { return -x }
func (compute) Add(x, y int64) int64       { return x + y }
func (compute) Sub(x, y int64) int64       { return x - y }
func (compute) Mul(x, y int64) int64       { return x * y }
func (compute) FloorDiv(x, y int64) int64  { q, _ := floorDivOv(x, y); return q }
func (compute) Min(x, y int64) int64       { return min(x, y) }

// parts writes down the calls that Fold makes.
type parts struct{}

func (parts) Const(n int64) string        { return Const(int(n)).String() }
func (parts) Symbol(name string) string   { return name }
func (parts) Neg(x string) string         { return "neg(" + x + ")" }
func (parts) Add(x, y string) string      { return "add(" + x + "," + y + ")" }
func (parts) Sub(x, y string) string      { return "sub(" + x + "," + y + ")" }
func (parts) Mul(x, y string) string      { return "mul(" + x + "," + y + ")" }
func (parts) FloorDiv(x, y string) string { return "div(" + x + "," + y + ")" }
func (parts) Min(x, y string) string      { return "least(" + x + "," + y + ")" }

func TestFoldKeepsTheExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTree(t, 5)
		d, ok := Fold(x.d, rebuild{})
		require.Equal(t, !x.d.IsUnknown(), ok)
		if !ok {
			return
		}
		require.True(t, d.Same(x.d), "%s came back as %s", x.d, d)
		if !x.ok {
			return
		}
		for i, b := range bindings {
			n, _ := Fold(x.d, compute(b))
			require.Equal(t, x.val[i], n, "%s with %v", x.d, b)
		}
	})
}

func TestFoldGoesFromTheLeft(t *testing.T) {
	for text, want := range map[string]string{
		"0":            "0",
		"-3":           "-3",
		"N":            "N",
		"-N":           "neg(N)",
		"-2*N*M":       "mul(mul(-2,M),N)",
		"3-N*M":        "add(neg(mul(M,N)),3)",
		"2*N-M-4":      "sub(add(neg(M),mul(2,N)),4)",   // canonical: -M+2*N-4
		"(N-5)//2*3":   "sub(mul(3,div(sub(N,1),2)),6)", // 3*((N-1)//2)-6
		"5-min(2*N,6)": "add(mul(-2,least(N,3)),5)",
		"7//(N+1)-H*H": "add(neg(mul(H,H)),div(7,add(N,1)))",
	} {
		got, ok := Fold(mustDim(t, text), parts{})
		require.True(t, ok)
		require.Equal(t, want, got, text)
	}
	_, ok := Fold(Unknown, parts{})
	require.False(t, ok)
}
