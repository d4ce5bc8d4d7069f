package generated_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering/generated"
)

// doubling computes w*x, as generated code does that has a copy of its weight.
type doubling struct{ w float32 }

func (d *doubling) Call(_ context.Context, in []*array.Array) ([]*array.Array, error) {
	return []*array.Array{array.FromSlice([]float32{d.w * array.Data[float32](in[0])[0]})}, nil
}

func (d *doubling) Bind(find generated.Find) error {
	w, err := find(generated.WeightName(1))
	if err == nil {
		d.w = array.Data[float32](w)[0]
	}
	return err
}

// A program takes a weight again once it was written.
func ExampleGraph_Bind() {
	g := generated.Graph{Weights: []int{1}, New: func(find generated.Find, _ int) (generated.Model, error) {
		d := &doubling{}
		return d, d.Bind(find)
	}}
	w := array.FromSlice([]float32{2})
	p, err := g.Bind([]*array.Array{w}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	fmt.Println("the weight is", generated.WeightName(1))
	for range 2 {
		y, err := p.Run(context.Background(), []*array.Array{array.FromSlice([]float32{21})})
		fmt.Println(array.Data[float32](y[0]), err)
		array.Data[float32](w)[0] = 3
		w.Storage().Bump()
	}
	// Output:
	// the weight is w1
	// [42] <nil>
	// [63] <nil>
}
