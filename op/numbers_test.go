package op_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

func ExampleCodec_Numbers() {
	fmt.Println(std.Clamp.Codec().Numbers(std.ClampAttrs{Min: op.Float(-1), Max: op.Int(3)}))
	// Output: [-1.0 3]
}

func ExampleCodec_WithNumbers() {
	fmt.Println(std.Mul.Codec().WithNumbers(std.BinaryAttrs{Other: op.Float(2)}, []op.Scalar{op.Float(3)}).(std.BinaryAttrs).Other)
	// Output: 3.0
}

func ExampleLifted_Again() {
	x := []shape.Type{shape.TensorType(array.F32, shape.ConstDims(3))}
	l, _ := decay.Lift(decayAttrs{Rate: 0.25, Steps: 7}, x)
	values, ok := l.Again(decay, decayAttrs{Rate: 0.5, Steps: 2}, x, x[0])
	fmt.Println(ok, array.Float64At(values[0], 0), array.Float64At(values[1], 0))
	// Output: true 0.5 2
}

func TestAgain(t *testing.T) {
	x := []shape.Type{shape.TensorType(array.F32, shape.ConstDims(3))}
	l, ok := decay.Lift(decayAttrs{Rate: 0.25, Steps: 7}, x)
	require.True(t, ok)
	_, ok = l.Again(decay, decayAttrs{Rate: 0, Steps: 7}, x, x[0])
	require.False(t, ok, "another expression")
	_, ok = l.Again(decay, decayAttrs{Rate: 0.5, Steps: 7}, x, shape.TensorType(array.F64, shape.ConstDims(3)))
	require.False(t, ok, "another type")
	_, ok = op.Lifted{}.Again(decay, decayAttrs{Rate: 0.5}, x, x[0])
	require.False(t, ok, "no lifted call")
	require.Empty(t, decay.Codec().Numbers(op.None{}))
	require.Equal(t, []op.Scalar{op.Float(0.5), op.Int(2)}, decay.Codec().Numbers(decay.Codec().WithNumbers(decayAttrs{}, []op.Scalar{op.Float(0.5), op.Int(2)})))
}
