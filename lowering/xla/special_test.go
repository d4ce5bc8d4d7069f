package xla_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/internal/eval"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op"
)

// TestSpecialOperands: operators with NaN or infinity somewhere, or with one number everywhere, give NaN,
// infinities and numbers where the interpreter does.
func TestSpecialOperands(t *testing.T) {
	trials := 2
	if fxtest.IsNightly() {
		trials = 30
	}
	r := rand.New(rand.NewPCG(1, 754))
	ran := 0
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc || strings.Contains(o.Key(), "unsaid") || o.Name == "sized" {
			continue
		}
		for _, s := range o.Samples() {
			m := oneCall(o, s.Attrs, s.In)
			if fxtest.Special(r, s.In) == nil || len(lowering.Query(target{}, m.Graph)) > 0 {
				continue
			}
			p, err := xla.Emit(m, lowering.Options{})
			require.NoError(t, err, o.Name)
			code, err := stablehlo.Parse(p.String())
			require.NoError(t, err, o.Name)
			for range trials {
				in := fxtest.Special(r, s.In)
				want, err := o.Eval(&kernel.Workspace{}, s.Attrs, in)
				if err != nil || fxtest.Excused(o, s.Attrs, in) {
					continue
				}
				got, err := eval.Run(ctx, code, present(in))
				require.NoError(t, err, o.Name)
				if d := fxtest.CloseArrays(want, got); d != "" && (o.Tol == (op.Tolerance{}) || differsFrom(o, op.Sample{Name: s.Name, Attrs: s.Attrs, In: in}, want, got) != "") {
					var text []string
					for _, a := range present(in) {
						text = append(text, array.Format(a, 60))
					}
					t.Errorf("%s %s: %s\nof\n%s", o.Key(), s.Name, d, strings.Join(text, "\n"))
				}
				ran++
			}
		}
	}
	require.Greater(t, ran, 1000)
}

// TestFarFromZero: elements that have more in common than they differ by keep the digits of their differences.
func TestFarFromZero(t *testing.T) {
	for _, c := range fxtest.FarFromZero() {
		p, err := xla.Emit(oneCall(c.Op, c.Attrs, c.In), lowering.Options{})
		require.NoError(t, err)
		want, err := c.Op.Eval(&kernel.Workspace{}, c.Attrs, c.In)
		require.NoError(t, err)
		require.Empty(t, fxtest.CloseArrays(want, evaluate(t, p, present(c.In))), c.Op.Name)
	}
}
