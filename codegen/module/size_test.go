package module

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/codegen/internal/sizetest"
	"github.com/gofx-dev/gofx/shape"
)

func TestSizesPrintAsMethods(t *testing.T) {
	for _, c := range [][2]string{
		{"3", "3"},
		{"N", "N"},
		{"2*N+1", "N.Mul(2).Add(1)"},
		{"-3*N+M", "M.Sub(N.Mul(3))"},
		{"1-N", "N.Mul(-1).Add(1)"},
		{"(H-1)//2", "H.Sub(1).Div(2)"},
		{"7//N", "N.Mul(0).Add(7).Div(N)"},
		{"4*N*(M//3)", "M.Div(3).Mul(4).Mul(N)"},
		{"N//(M+1)-2", "N.Div(M.Add(1)).Sub(2)"},
		// A quotient that is not exact must not be taken apart by a factor around it.
		{"2*(N//2)", "N.Div(2).Mul(2)"},
		// Go's own division would give 0 for N=0, where the size is -1.
		{"(N-1)//2", "N.Sub(1).Div(2)"},
		{"min(100,N+1)", "N.Min(99).Add(1)"},
	} {
		d, err := shape.ParseDim(c[0])
		require.NoError(t, err)
		require.Equal(t, c[1], sizeText(d), c[0])
	}
}

func TestPrintedSizesKeepTheirValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { sizetest.KeepsValue(t, sizeText) })
}

// sizeText prints a size as module style has it.
func sizeText(d shape.Dim) string {
	a := sizeArith{&sizes{writer: &writer{body: &body{}}}, map[string]*goVar{}}
	for _, s := range d.Symbols() {
		a.of[s] = &goVar{name: s}
	}
	c, _ := shape.Fold(d, a)
	return c.code.GoString()
}
