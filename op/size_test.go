package op_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

func TestStepsWithoutSizesDoNotRun(t *testing.T) {
	s := &middle{}
	u := op.WithSizes(s, op.Size(&s.Start, shape.Sym("N")))
	defer func() {
		e := recover().(*diag.Error)
		require.ErrorIs(t, e, op.NoMeaning)
		require.Contains(t, e.Msg, "Start is N, expected a number")
	}()
	u.Run(&kernel.Workspace{}, nil, nil)
}

// hiding is a step with ints that no engine could set.
type hiding struct {
	kernel.Copy
	Small int32
	own   int
	Next  *middle
}

func TestSizesOfOtherFieldsAreMistakes(t *testing.T) {
	n, elsewhere := shape.Sym("N"), 0
	s := &hiding{Next: &middle{}}
	for name, field := range map[string]*int{"another variable": &elsewhere, "unexported": &s.own, "another struct": &s.Next.Start} {
		o := op.Define("example_hiding_"+strings.ReplaceAll(name, " ", "_"), op.Spec[op.None]{
			Doc: "example_hiding declares what is no field of its step.", In: op.Args("x"),
			Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
			Kernel: func(op.None, []shape.Type) kernel.Step { return op.WithSizes(s, op.Size(field, n)) },
		})
		_, err := o.Step(op.None{}, []shape.Type{shape.TensorType(array.F32, shape.Of(n))})
		require.ErrorIs(t, err, diag.Internal, name)
		require.ErrorContains(t, err, "op_test.hiding has no such field", name)
	}
}
