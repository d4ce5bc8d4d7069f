package grad_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/tensor"
)

// What cannot be right is refused where it is, all at once.
func TestControlFlow_refused(t *testing.T) {
	written := `graph net(%x: f64[3], %p: bool[]) {
  %c = call_function[cond](%p, %x) : (f64[3]) {
    region yes(%a: f64[3]) {
      %s = get_attr[s] : f64[3]
      %w = call_function[assign](%s, %a) : f64[3]
      %y = call_function[mul](%w, %a) : f64[3]
      return (%y)
    }
    region no(%a: f64[3]) {
      return (%a)
    }
  }
  %y = call_function[getitem](%c) : f64[3]
  %l = call_function[sum](%y) : f64[]
  return %l
}
`
	for _, c := range []struct {
		name, text string
		code       diag.Code
		at         string // the node
	}{
		{"a body that writes state", written, grad.ControlFlow, "w"},
		{"state that a body reads after it was written", `graph net(%x: f64[3], %p: bool[]) {
  %s = get_attr[s] : f64[3]
  %w = call_function[assign](%s, %x) : f64[3]
  %c = call_function[cond](%p, %x) : (f64[3]) {
    region yes(%a: f64[3]) {
      %t = get_attr[s] : f64[3]
      %y = call_function[mul](%t, %a) : f64[3]
      return (%y)
    }
    region no(%a: f64[3]) {
      return (%a)
    }
  }
  %y = call_function[getitem](%c) : f64[3]
  %l = call_function[sum](%y) : f64[]
  return %l
}
`, grad.ReadAfterWrite, "t"},
		{"state that a body writes and the graph reads", `graph net(%x: f64[3], %p: bool[]) {
  %s = get_attr[s] : f64[3]
  %z = call_function[mul](%x, %s) : f64[3]
  %c = call_function[cond](%p, %x) : (f64[3]) {
    region yes(%a: f64[3]) {
      %t = get_attr[s] : f64[3]
      %w = call_function[assign](%t, %a) : f64[3]
      return (%w)
    }
    region no(%a: f64[3]) {
      return (%a)
    }
  }
  %l = call_function[sum](%z) : f64[]
  return %l
}
`, grad.ReadAfterWrite, "c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := graphOf(t, c.text)
			m.SetParam(graph.Param{Path: "s", Value: vec(1, 2, 3), Buffer: true})
			_, err := grad.Gradient(ctx, m, grad.Options{Wrt: []string{"x"}})
			var list diag.List
			list.Add(err)
			require.Len(t, list, 1)
			require.Equal(t, c.code, list[0].Code)
			require.Equal(t, c.at, list[0].Node)
		})
	}
}

func TestMistakes_inBodiesComeTogether(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		a := x.Bitcast(array.F64).Sum()
		last, _ := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return one(c[0].Add(x.Add(s[0]).Bitcast(array.F64).Sum())), nil
		}, one(a), one(x))
		w := tensor.While(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(3) },
			func(in []*tensor.Tensor) []*tensor.Tensor { return one(in[0].Exp()) }, last[0])
		return w[0]
	}, fx.Input("x", "f64[3,3]"))
	require.NoError(t, err)
	_, err = gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x"}})
	var list diag.List
	require.ErrorAs(t, err, &list)
	require.Len(t, list, 3)
	for i, code := range []diag.Code{op.NoGradient, op.NoGradient, grad.ControlFlow} {
		require.Equal(t, code, list[i].Code)
		require.Contains(t, list[i].Pos.File, "flow_mistakes_test.go")
	}
}

// A tensor that only serves a result that nobody uses has no gradient, rather than zeros.
func TestUnreached_unusedResultsOfLoops(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x, y *tensor.Tensor) *tensor.Tensor {
		last, _ := tensor.Scan(func(c, s []*tensor.Tensor) (next, out []*tensor.Tensor) {
			return []*tensor.Tensor{c[0].Mul(s[0]), c[1].Add(y)}, nil
		}, []*tensor.Tensor{x.Sum(), y}, one(x))
		return last[0]
	}, fx.Input("x", "f64[3]"), fx.Input("y", "f64[]"))
	require.NoError(t, err)
	_, err = gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x", "y"}})
	require.ErrorIs(t, err, grad.Unreached)
	require.ErrorContains(t, err, "does not depend on y")
	g, err := gm.Gradient(ctx, fx.GradOptions{Wrt: []string{"x", "y"}, AllowUnused: true})
	require.NoError(t, err)
	require.Equal(t, [][]float64{{42, 24, 18}, {0}}, twice(t, g.Module, vec(1, 2, 3), array.Scalar(5.0)))
}
