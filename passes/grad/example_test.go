package grad_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes/grad"
)

const squares = `gofx 1

graph net(%x: f32[N,3], %w: f32[3]) {
  symbol N = dim(%x, 0)
  %y = call_function[gelu](%x) : f32[N,3]
  %z = call_function[mul](%y, %w) : f32[N,3]
  %loss = call_function[sum](%z) : f32[]
  return %loss
}
`

func ExampleValueAndGrad() {
	m, err := graph.Parse([]byte(squares), "net.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	g, err := grad.ValueAndGrad(context.Background(), m, grad.Options{Wrt: []string{"x", "w"}})
	if err != nil {
		fmt.Println(err) // every mistake, at the model's line
		return
	}
	fmt.Print(g)
	// Output:
	// gofx 1
	//
	// graph net(%x: f32[N,3], %w: f32[3]) {
	//   symbol N = dim(%x, 0)
	//   %y = call_function[gelu](%x) : f32[N,3]
	//   %z = call_function[mul](%y, %w) : f32[N,3]
	//   %loss = call_function[sum](%z) : f32[]
	//   %ones_like = call_function[ones_like](%loss) : f32[]
	//   %reshape = call_function[reshape](%ones_like) {shape=[1,1]} : f32[1,1]
	//   %expand = call_function[expand](%reshape) {shape=[N,3]} : f32[N,3]
	//   %mul = call_function[mul](%expand, %w) : f32[N,3]
	//   %mul_1 = call_function[mul](%expand, %y) : f32[N,3]
	//   %sum = call_function[sum](%mul_1) {dim=[0]} : f32[3]
	//   %gelu_grad = call_function[gelu_grad](%x, _, %mul) : f32[N,3]
	//   return (%loss, {x: %gelu_grad, w: %sum})
	// }
}

func ExampleGradient() {
	m, _ := graph.Parse([]byte(squares), "net.fx")
	_, err := grad.Gradient(context.Background(), m, grad.Options{Wrt: []string{"b"}})
	fmt.Println(err)
	// Output:
	// no input and no parameter is called "b" [FX3096]
	//     while running pass grad
	//     hint: inputs and parameters are x, w
}

func ExampleVJP() {
	m, _ := graph.Parse([]byte(squares), "net.fx")
	g, _ := grad.VJP(context.Background(), m, grad.Options{Wrt: []string{"w"}})
	for _, n := range g.Graph.Inputs() {
		fmt.Println(n.Name(), n.Type())
	}
	// Output:
	// x f32[N,3]
	// w f32[3]
	// grad_0 f32[]
}

func ExampleHow() {
	m, _ := graph.Parse([]byte(squares), "net.fx")
	for n := range m.Graph.Nodes() {
		if n.Op() != nil {
			way, _ := grad.How(n.Op())
			fmt.Println(n.Op().Name, "-", way)
		}
	}
	// Output:
	// gelu - expression
	// mul - expression
	// sum - rule
}

func ExampleJVP() {
	m, _ := graph.Parse([]byte(squares), "net.fx")
	g, err := grad.JVP(context.Background(), m, grad.Options{Wrt: []string{"w"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range g.Graph.Inputs() {
		fmt.Println(n.Name(), n.Type())
	}
	// Output:
	// x f32[N,3]
	// w f32[3]
	// tangent_0 f32[3]
}

func ExampleHVP() {
	m, _ := graph.Parse([]byte(squares), "net.fx")
	g, err := grad.HVP(context.Background(), m, grad.Options{Wrt: []string{"x"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, n := range g.Graph.Output().Args() {
		fmt.Println([]string{"loss", "gradient", "product"}[i], n.Type())
	}
	// Output:
	// loss f32[]
	// gradient f32[N,3]
	// product f32[N,3]
}

// Append differentiates by a value on the way of a graph that is still being made.
func ExampleAppend() {
	m, _ := graph.Parse([]byte(squares), "net.fx")
	g := m.Graph
	grads, err := grad.Append(context.Background(), g.Before(g.Output()), g.Find("loss"), []*graph.Node{g.Find("y")}, grad.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(grads[0].Op().Name, grads[0].Args(), grads[0].Type())
	// Output: mul [%expand %w] f32[N,3]
}
