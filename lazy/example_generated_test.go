package lazy_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/tensor"
)

// compiled stands for generated code, which has no plan.
type compiled struct{ plan lowering.Executable }

func (c compiled) Call(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	return c.plan.Run(ctx, in)
}

func (compiled) Bind(generated.Find, generated.Pack) error { return nil }

// A session that records has what generators of code need, and one with the generated graphs runs
// them from the first time on. `fxgen lazy -gen` writes such a package.
func ExampleSession_Recorded() {
	step := func(s *lazy.Session, x *tensor.Tensor) float64 { return s.In(x).Exp().Sum().Item() }
	first := lazy.New(lazy.Options{Record: true})
	defer first.Close()
	step(first, tensor.Zeros(2))
	graphs, modules := first.Recorded()
	for i := range graphs.List {
		g := &graphs.List[i]
		fmt.Println(g.Name, "has", modules[i].Graph.Len(), "nodes")
		g.New = func(generated.Find, generated.Pack, int) (generated.Model, error) {
			plan, err := cpu.Target{}.Compile(modules[i], lowering.Options{Exact: true})
			return compiled{plan}, err
		}
	}
	s := lazy.New(lazy.Options{Generated: graphs})
	defer s.Close()
	fmt.Println(step(s, tensor.Zeros(2)), step(s, tensor.Zeros(3)))
	fmt.Print(s.Stats())
	// Output:
	// Graph1 has 4 nodes
	// 2 3
	// calls        4
	// runs         4
	// flush item   2
	// graphs       2
	// hits         1
	// interpreted  1
	// missed       1
	// longest      2
}
