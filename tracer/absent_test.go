package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// gaps has fields of all kinds that a constructor may forget.
type gaps struct {
	Fc     *nn.Linear
	Other  *nn.Linear
	Head   Forwarder
	Act    func(*tensor.Tensor) *tensor.Tensor
	Scale  *tensor.Tensor
	Blocks []*gaps
	Named  map[string]*nn.Linear
	Config *struct{ Twice bool }
	run    func(m *gaps, x *tensor.Tensor) *tensor.Tensor
}

func (m *gaps) Forward(x *tensor.Tensor) *tensor.Tensor { return m.run(m, x) }

func TestNilFieldsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(m *gaps, x *tensor.Tensor) *tensor.Tensor
		code diag.Code
		msg  string
	}{
		"method of a layer": {code: tracer.UserPanic, msg: "the model panicked: m.Fc is nil, expected a *nn.Linear",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor { return m.Fc.Forward(x) }},
		"run of a layer": {code: tracer.UserPanic, msg: "m.Fc is nil, expected a *nn.Linear",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor { return nn.Run(m.Fc, x) }},
		"interface": {code: tracer.UserPanic, msg: "m.Head is nil, expected a tracer_test.Forwarder",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor { return m.Head.Forward(x) }},
		"function": {code: tracer.UserPanic, msg: "m.Act is nil, expected a func(*tensor.Tensor) *tensor.Tensor",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor { return m.Act(x) }},
		"settings": {code: tracer.UserPanic, msg: "m.Config is nil, expected a *struct { Twice bool }",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor {
				if m.Config.Twice {
					return x
				}
				return x.Neg()
			}},
		"in a slice": {code: tracer.UserPanic, msg: "m.Blocks[1].Fc is nil, expected a *nn.Linear",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor {
				m.Fc, m.Blocks = nn.NewLinear(2, 2), []*gaps{{Fc: nn.NewLinear(2, 2)}, {}}
				return m.Blocks[1].Fc.Forward(m.Blocks[0].Fc.Forward(m.Fc.Forward(x)))
			}},
		"element": {code: tracer.UserPanic, msg: "m.Blocks[0] is nil, expected a *tracer_test.gaps",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor {
				m.Blocks = make([]*gaps, 1)
				return nn.Run(m.Blocks[0], x)
			}},
		"value of a map": {code: tracer.UserPanic, msg: `m.Named["a"] is nil, expected a *nn.Linear`,
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor {
				m.Named = map[string]*nn.Linear{"a": nil}
				return m.Named["a"].Forward(x)
			}},
		"two in a line": {code: tracer.UserPanic, msg: "it uses a nil pointer, and m.Fc (*nn.Linear) and m.Other (*nn.Linear) are nil",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor { return m.Fc.Forward(m.Other.Forward(x)) }},
		"elsewhere": {code: tracer.UserPanic, msg: "m.Fc (*nn.Linear), m.Other (*nn.Linear), m.Head (tracer_test.Forwarder) and others are nil",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor {
				layer := m.Fc
				return layer.Forward(x)
			}},
		"tensor": {code: "FX2006", msg: "m.Scale is nil, expected a *tensor.Tensor",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor { return x.Add(m.Scale) }},
		"receiver": {code: "FX2006", msg: "m.Scale is nil, expected a *tensor.Tensor",
			run: func(m *gaps, x *tensor.Tensor) *tensor.Tensor { return m.Scale.Add(x) }},
	} {
		t.Run(name, func(t *testing.T) {
			net := &gaps{run: c.run}
			_, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,2]"), fx.With(func(p *tracer.Tracer) { p.Maker = "NewGaps(3)" }))
			var l diag.List
			l.Add(err)
			require.NotEmpty(t, l)
			require.Equal(t, c.code, l[0].Code, "%v", err)
			require.Contains(t, l[0].Msg, c.msg)
			require.Equal(t, "assign it where the module is made, by NewGaps(3)", l[0].Hint)
			require.Contains(t, l[0].Pos.File, "absent_test.go")
		})
	}
	// A nil pointer that is no field of the module is called what Go calls it.
	_, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { var l *nn.Linear; return l.Forward(x) }, fx.Input("x", "f32[N,2]"))
	require.ErrorContains(t, err, "nil pointer dereference")
}
