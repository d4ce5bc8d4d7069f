package generated_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/generated"
)

// doubling computes w*x, as generated code does that has a copy of its weight.
type doubling struct{ w float32 }

func (d *doubling) Call(_ context.Context, in []*array.Array) ([]*array.Array, error) {
	return []*array.Array{array.FromSlice([]float32{d.w * array.Data[float32](in[0])[0]})}, nil
}

func (d *doubling) Bind(find generated.Find, _ generated.Pack) error {
	w, err := find(generated.WeightName(1))
	if err == nil {
		d.w = array.Data[float32](w)[0]
	}
	return err
}

// A program takes a weight again once it was written.
func ExampleGraph_Bind() {
	g := generated.Graph{Weights: []int{1}, New: func(find generated.Find, pack generated.Pack, _ int) (generated.Model, error) {
		d := &doubling{}
		return d, d.Bind(find, pack)
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

// layer has its weight as the processor reads it.
type layer struct{ w *array.Array }

func (l *layer) Call(_ context.Context, in []*array.Array) ([]*array.Array, error) { return in, nil }

func (l *layer) Bind(find generated.Find, pack generated.Pack) error {
	w, err := find(generated.WeightName(0))
	if err == nil {
		l.w = pack(kernel.PackLinear{}, w)
	}
	return err
}

// Two programs over one weight have it once.
func ExampleBound_Packed() {
	g := generated.Graph{Weights: []int{0}, New: func(find generated.Find, pack generated.Pack, _ int) (generated.Model, error) {
		l := &layer{}
		return l, l.Bind(find, pack)
	}}
	w := []*array.Array{array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)}
	one, _ := g.Bind(w, 1)
	two, err := g.Bind(w, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer one.Close()
	defer two.Close()
	fmt.Println(one.Packed() > 0, one.Packed(two) == two.Packed())
	// Output: true true
}
