package conform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// careless is an operator of a user's whose kernel takes its operand for contiguous f32, and
// fails at an index of its own where it has more than four rows.
var careless = op.Define("careless", op.Spec[op.None]{
	Doc: "careless copies its operand.", In: op.Args("x"), Class: op.Movement,
	Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
	Kernel: func(op.None, []shape.Type) kernel.Step { return &carelessStep{} },
})

type carelessStep struct{}

func (*carelessStep) Run(_ *kernel.Workspace, out, in []*array.Array) { copyAll(out[0], in[0]) }

func copyAll(to, from *array.Array) {
	copy(array.Data[float32](to), array.Data[float32](from))
	var few [4]int
	few[max(from.Dim(0), 1)-1] = 1
}

// A kernel of a user's that panics is an error at the call of its operator, with the place in
// the kernel and a cure; it is no bug of gofx.
func TestKernelsOfUsersThatPanic(t *testing.T) {
	net := func(x *tensor.Tensor) *tensor.Tensor { return tensor.CallOp(careless, nil, x.T()) }
	gm, err := fx.Trace(ctx, net, fx.Input("x", "f32[N,M]"))
	require.NoError(t, err)
	e, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	defer e.Close()
	engines := map[string]func(x *array.Array) error{
		Eager: func(x *array.Array) error {
			if err := thrown(func() { net(tensor.New(x)) }); err != nil {
				return err
			}
			return nil
		},
		Interp: func(x *array.Array) error { _, err := gm.Run(ctx, tensor.New(x)); return err },
		Plan:   func(x *array.Array) error { _, err := e.Run(ctx, []*array.Array{x}); return err },
	}
	for name, run := range engines {
		for hint, x := range map[string]*array.Array{"array.Contiguous(x)": array.New(array.F32, 2, 3), "empty": array.New(array.F32, 1, 5)} {
			var d *diag.Error
			require.ErrorAs(t, run(x), &d, name)
			require.Equal(t, kernel.CodeStep, d.Code, "%s: %v", name, d)
			require.Contains(t, d.Pos.File, "foreign_test.go", name)
			require.Contains(t, d.Msg, "carelessStep", name)
			require.Contains(t, d.Hint, hint, name)
			require.Contains(t, d.Related[0].Pos.File, "foreign_test.go", name)
		}
		require.NoError(t, run(array.New(array.F32, 1, 3)), "%s after a panic", name)
	}
}
