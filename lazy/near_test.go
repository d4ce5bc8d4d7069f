package lazy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// pair is two tensors in one memory, and x, which is a session's there.
type pair struct{ a, b, x *tensor.Tensor }

// nearby makes tensors in one memory in the ways that models have.
var nearby = map[string]func() (a, b *tensor.Tensor){
	"a view": func() (a, b *tensor.Tensor) {
		a = tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
		return asParam(a), asParam(a.Permute(1, 0))
	},
	"the same view": func() (a, b *tensor.Tensor) {
		a = tensor.Ones(2, 3)
		return asParam(a), asParam(a.Transpose(0, 0))
	},
	"a row": func() (a, b *tensor.Tensor) {
		a = tensor.Ones(2, 3)
		return asParam(a), asParam(a.Narrow(0, 1, 1))
	},
	"one slice": func() (a, b *tensor.Tensor) {
		s := []float32{1, 2, 3, 4, 5, 6}
		return asParam(tensor.FromSlice(s, 2, 3)), asParam(tensor.FromSlice(s, 6))
	},
	"parts of a slice": func() (a, b *tensor.Tensor) {
		s := []float32{1, 2, 3, 4, 5, 6, 7}
		return asParam(tensor.FromSlice(s[:6], 2, 3)), asParam(tensor.FromSlice(s[1:]))
	},
	"no model": func() (a, b *tensor.Tensor) {
		s := []float32{1, 2, 3, 4, 5, 6}
		return tensor.FromSlice(s, 2, 3), tensor.FromSlice(s, 3, 2)
	},
	"half a model": func() (a, b *tensor.Tensor) {
		s := []float32{1, 2, 3, 4, 5, 6}
		return asParam(tensor.FromSlice(s, 2, 3)), tensor.FromSlice(s)
	},
}

func asParam(x *tensor.Tensor) *tensor.Tensor { x.MarkParam(); return x }

var steps = map[string]func(p pair) *tensor.Tensor{
	"written, the other read":    func(p pair) *tensor.Tensor { p.a.AddInPlace(p.x); return p.b.MulScalar(2).Add(p.x.Sum()) },
	"the other read twice":       func(p pair) *tensor.Tensor { y := p.b.Mul(p.x.Sum()); p.a.AddInPlace(p.x); return p.b.Add(y) },
	"both written":               func(p pair) *tensor.Tensor { p.a.AddInPlace(p.x); p.b.MulInPlace(p.x.Sum()); return p.a.Add(p.x) },
	"written eagerly between":    func(p pair) *tensor.Tensor { p.a.AddInPlace(p.x); p.b.AddScalarInPlace(1); return p.a.Add(p.x) },
	"eagerly, the other written": func(p pair) *tensor.Tensor { p.b.AddScalarInPlace(1); p.a.AddInPlace(p.x); return p.b.Mul(p.x.Sum()) },
	"a row of it": func(p pair) *tensor.Tensor {
		p.a.Narrow(0, 0, 1).MulInPlace(p.x.Narrow(0, 1, 1))
		return p.b.Add(p.x.Sum())
	},
	"assigned to the other": func(p pair) *tensor.Tensor {
		p.a.AddInPlace(p.x)
		p.b.AssignInPlace(p.b.MulScalar(2))
		return p.a.Add(p.x)
	},
	"not read":     func(p pair) *tensor.Tensor { p.a.AddInPlace(p.x); return p.x.Neg() },
	"its elements": func(p pair) *tensor.Tensor { p.a.AddInPlace(p.x); return p.x.AddScalar(p.b.Sum().Item()) },
	"its memory": func(p pair) *tensor.Tensor {
		p.a.AddInPlace(p.x)
		return p.x.AddScalar(float64(tensor.Data[float32](p.b)[0]))
	},
}

// Tensors of a model that lie in one memory are what eager code makes of them, also where
// barriers may update models in place.
func TestSession_tensorsInOneMemory(t *testing.T) {
	for how, tensors := range nearby {
		for name, step := range steps {
			t.Run(how+"/"+name, func(t *testing.T) {
				run := func(in func(*tensor.Tensor) *tensor.Tensor, barrier func() error) (out []string) {
					var p pair
					p.a, p.b = tensors()
					for i := range 6 {
						p.x = in(tensor.FromSlice([]float32{1, 2, -3, 0.5, float32(i), 6}, 2, 3))
						y := step(p)
						out = append(out, y.String())
						require.NoError(t, barrier())
						out = append(out, p.a.String(), p.b.String())
					}
					return out
				}
				want := run(func(x *tensor.Tensor) *tensor.Tensor { return x }, func() error { return nil })
				for _, o := range []lazy.Options{{Warm: 1, Synchronous: true}, {Warm: 1, Synchronous: true, Donate: true}} {
					s := lazy.New(o)
					require.Equal(t, want, run(s.In, s.Barrier))
					if name != "not read" { // the session knows both
						require.Zero(t, s.Stats().Donated)
					}
					require.NoError(t, s.Close())
				}
			})
		}
	}
}
