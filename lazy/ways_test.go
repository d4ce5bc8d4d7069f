package lazy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// Writes to a tensor of a model give eager code's text in a session, with Donate, and as a Program, which
// refuses writes that no input takes part in.
func TestWrites_everyWay(t *testing.T) {
	for name, step := range map[string]func(w, x *tensor.Tensor) *tensor.Tensor{
		"self": func(w, x *tensor.Tensor) *tensor.Tensor { w.AddInPlace(w); return w.Sum() },
		"alias": func(w, x *tensor.Tensor) *tensor.Tensor {
			v := w.Reshape(2, 2)
			v.AddInPlace(x.Reshape(2, 2))
			return w.Mul(v.Reshape(4))
		},
		"slice": func(w, x *tensor.Tensor) *tensor.Tensor { w.Narrow(0, 1, 2).MulScalarInPlace(2); return w.Add(x) },
		"old":   func(w, x *tensor.Tensor) *tensor.Tensor { o := w.MulScalar(1); w.AddInPlace(x); return o.Add(w) },
		"twice": func(w, x *tensor.Tensor) *tensor.Tensor {
			w.AddInPlace(x)
			y := w.Exp()
			w.SubInPlace(x.MulScalar(.5))
			return y.Add(w)
		},
		"named":  func(w, x *tensor.Tensor) *tensor.Tensor { n := w.Add(x); w.AssignInPlace(n); return n },
		"zero":   func(w, x *tensor.Tensor) *tensor.Tensor { w.MulScalarInPlace(0); return w.Add(x) },
		"select": func(w, x *tensor.Tensor) *tensor.Tensor { w.Select(0, 3).AssignInPlace(x.Sum()); return w.Cumsum(0) },
	} {
		run := func(mode string) (out string) {
			w := tensor.Param(array.FromSlice([]float32{1, -2, .5, 3}, 4))
			var s *lazy.Session
			if mode != "eager" {
				s = lazy.New(lazy.Options{Warm: 1, Donate: mode == "donate", Synchronous: true})
				defer s.Close()
			}
			var p *lazy.Program
			if mode == "program" {
				var err error
				p, err = s.Program(func(x *tensor.Tensor) *tensor.Tensor { return step(w, x) }, tensor.Ones(4))
				if name == "self" || name == "zero" || name == "slice" {
					require.ErrorContains(t, err, "by a computation that no traced value takes part in")
					return "refused"
				}
				require.NoError(t, err, name)
			}
			for i := range 7 {
				x := tensor.FromSlice([]float32{float32(i), .25, -1, 2})
				var y *tensor.Tensor
				switch mode {
				case "eager":
					y = step(w, x)
				case "program":
					r, err := p.Run(x)
					require.NoError(t, err, name)
					y = r[0]
				default:
					y = step(w, s.In(x))
					s.Keep(y)
					require.NoError(t, s.Barrier(), name)
				}
				out += fmt.Sprintln(y, w)
			}
			return out
		}
		want := run("eager")
		for _, mode := range []string{"lazy", "donate", "program"} {
			if got := run(mode); got != want && got != "refused" {
				t.Errorf("%s %s\n%s\nwant\n%s", name, mode, got, want)
			}
		}
	}
}
