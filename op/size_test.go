package op_test

import (
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

var (
	hidden, elsewhere = &hiding{Next: &middle{}}, 0

	// hides are operators that declare what is no field of their step.
	hides = map[string]*op.Op{
		"another variable": hide("another_variable", &elsewhere),
		"unexported":       hide("unexported", &hidden.own),
		"another struct":   hide("another_struct", &hidden.Next.Start),
	}
)

func hide(name string, field *int) *op.Op {
	return op.Define("example_hiding_"+name, op.Spec[op.None]{
		Doc: "example_hiding declares what is no field of its step.", In: op.Args("x"),
		Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Kernel: func(op.None, []shape.Type) kernel.Step { return op.WithSizes(hidden, op.Size(field, shape.Sym("N"))) },
	})
}

func TestSizesOfOtherFieldsAreMistakes(t *testing.T) {
	for name, o := range hides {
		_, err := o.Step(op.None{}, []shape.Type{shape.TensorType(array.F32, shape.Of(shape.Sym("N")))})
		require.ErrorIs(t, err, diag.Internal, name)
		require.ErrorContains(t, err, "op_test.hiding has no such field", name)
	}
}
