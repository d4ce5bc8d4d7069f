package eval_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/xla/internal/eval"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
)

func ExampleRun() {
	b := stablehlo.NewBuilder(stablehlo.Of(array.F32, 3))
	p := &stablehlo.Module{Name: "square", Main: b.Return(b.Op("multiply", b.Arg(0), b.Arg(0)))}
	out, err := eval.Run(context.Background(), p, []*array.Array{array.FromSlice([]float32{1, 2, 3})})
	fmt.Println(array.Data[float32](out[0]), err)
	// Output: [1 4 9] <nil>
}
