package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/passes"
)

// parts are lines of a random graph; %N is the new value and %A to %D are late ones, of 4 rows of 6,
// %s is of any sizes that fit them.
var parts = []struct {
	text  string
	small bool // the new value is of other sizes
}{
	{"%N = matmul(%A, %w)", false}, {"%N = linear(%A, %w, %r)", false}, {"%N = softmax(%A) {dim=1}", false}, {"%N = triu(%A)", false},
	{"%N = tanh(%s)", true}, {"%N = sum(%A) {dim=[1], keep_dim=true}", true}, {"%N = add(%A, %s)", false}, {"%N = mul(%s, %A)", false},
	{"%hN = cast(%A) {dtype=f16}\n%kN = mul(%hN, %hN)\n%N = cast(%kN) {dtype=f32}", false},
	{"%pN = gt(%A, %B)\n%N = where(%pN, %C, %D)", false},
	{"%tN = transpose(%A) {dim0=0, dim1=1}\n%eN = sin(%tN)\n%N = transpose(%eN) {dim0=0, dim1=1}", false},
	{"%N = tanh(%A)", false}, {"%N = sigmoid(%A)", false}, {"%N = neg(%A)", false},
	{"%N = add(%A, %B)", false}, {"%N = sub(%A, %B)", false}, {"%N = mul(%A, %B)", false}, {"%N = maximum(%A, %B)", false},
}

// randomJoined makes a graph whose calls share late values, of which up to three are results.
func randomJoined(seed uint64) joined {
	r := rand.New(rand.NewPCG(seed, 72))
	full, small := []string{"%x", "%z"}, []string{"%r", "%c", "%o"}
	late := func() string { return full[max(0, len(full)-1-r.IntN(4))] }
	var b strings.Builder
	for i := range 5 + r.IntN(30) {
		p, name := parts[r.IntN(len(parts))], fmt.Sprint("v", i)
		b.WriteString(strings.NewReplacer("N", name, "%A", late(), "%B", late(), "%C", late(), "%D", late(), "%s", small[r.IntN(len(small))]).Replace(p.text) + "\n")
		if p.small {
			small = append(small, "%"+name)
		} else {
			full = append(full, "%"+name)
		}
	}
	out := []string{full[len(full)-1]}
	for range r.IntN(3) {
		out = append(out, late())
	}
	b.WriteString("return " + strings.Join(out, ", "))
	return joined{inputs: "%x: f32[4,6], %z: f32[4,6], %r: f32[6], %c: f32[4,1], %o: f32[], %w: f32[6,6]", body: b.String()}
}

// TestRandomSharing: values that several calls read are what the interpreter computes.
func TestRandomSharing(t *testing.T) {
	g := target(t)
	count := 2
	if fxtest.IsNightly() {
		count = 100
	}
	for seed := range uint64(count) {
		m := randomJoined(seed).module(t)
		in, err := passes.Inputs(m.Graph, nil, seed)
		require.NoError(t, err)
		e, err := g.Compile(m, lowering.Options{})
		require.NoError(t, err, "%s", m.Graph)
		got, err := e.Run(ctx, in)
		require.NoError(t, err, "%s", m.Graph)
		require.Empty(t, fxtest.CloseArrays(interpreted(t, m, in...), got), "%s", m.Graph)
		require.NoError(t, e.Close())
	}
}
