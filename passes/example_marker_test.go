package passes_test

import (
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

// What is chosen where the mask is false is not seen after the same mask.
func ExampleAny() {
	rewritten(passes.Rewrite{Name: "where-where", Doc: "Drops a choice behind the same choice.",
		Pattern: func(m, x *tensor.Tensor) *tensor.Tensor {
			return tensor.Where(m, tensor.Where(m, x, passes.Any()), passes.Any())
		},
		Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			outer := m.Roots[0]
			return []*graph.Node{c.Function(std.Where, nil, m.Inputs[0], m.Inputs[1], outer.Arg(2))}
		},
	}, func(x *tensor.Tensor) *tensor.Tensor {
		mask := x.GtScalar(0)
		return tensor.Where(mask, tensor.Where(mask, x.Exp(), x.Sin()), x.Neg())
	})
	// Output:
	// %gt = call_method[gt](%x) {other=0} : bool[N,8]
	// %exp = call_method[exp](%x) : f32[N,8]
	// %neg = call_method[neg](%x) : f32[N,8]
	// %where_2 = call_function[where](%gt, %exp, %neg) : f32[N,8]
}

// A layer with or without an activation.
func ExampleOptional() {
	rewritten(passes.Rewrite{Name: "saturate", Doc: "Drops relu below sigmoid's clamp.",
		Pattern: func(x *tensor.Tensor) *tensor.Tensor {
			y := passes.Optional(x, func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() })
			return y.Clamp(tensor.Number(0.0), tensor.Number(6.0))
		},
		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x.Relu6() },
	}, func(x *tensor.Tensor) *tensor.Tensor {
		return x.Relu().Clamp(tensor.Number(0.0), tensor.Number(6.0)).Sin().Clamp(tensor.Number(0.0), tensor.Number(6.0))
	})
	// Output:
	// %relu6 = call_function[relu6](%x) : f32[N,8]
	// %sin = call_method[sin](%relu6) : f32[N,8]
	// %relu6_1 = call_function[relu6](%sin) : f32[N,8]
}

// x·sigmoid(x) and sigmoid(x)·x.
func ExampleCommute() {
	rewritten(passes.Rewrite{Name: "silu", Doc: "Makes silu of x times its sigmoid.",
		Pattern:     func(x *tensor.Tensor) *tensor.Tensor { return passes.Commute(x.Mul(x.Sigmoid())) },
		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x.Silu() },
	}, func(x *tensor.Tensor) *tensor.Tensor { return x.Sigmoid().Mul(x) })
	// Output: %silu = call_function[silu](%x) : f32[N,8]
}

// However often relu follows relu, one is enough.
func ExampleRepeat() {
	relu := func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }
	rewritten(passes.Rewrite{Name: "one-relu", Doc: "Makes one relu of many.",
		Pattern:     func(x *tensor.Tensor) *tensor.Tensor { return passes.Repeat(x, 2, 0, relu) },
		Replacement: relu,
	}, func(x *tensor.Tensor) *tensor.Tensor { return x.Relu().Relu().Relu().Relu() })
	// Output: %relu_4 = call_function[relu](%x) : f32[N,8]
}

// A concatenation in a concatenation is one.
func ExampleRest() {
	rewritten(passes.Rewrite{Name: "flat-cat", Doc: "Makes one concatenation of two along the columns.",
		Pattern: func() *tensor.Tensor {
			return tensor.Cat([]*tensor.Tensor{tensor.Cat([]*tensor.Tensor{passes.Rest(0)}, 1), passes.Rest(1)}, 1)
		},
		Replacement: func() *tensor.Tensor { return tensor.Cat([]*tensor.Tensor{passes.Rest(0), passes.Rest(1)}, 1) },
	}, func(x *tensor.Tensor) *tensor.Tensor {
		return tensor.Cat([]*tensor.Tensor{tensor.Cat([]*tensor.Tensor{x, x}, 1), x, x}, 1)
	})
	// Output: %cat_2 = call_function[cat](%x, %x, %x, %x) {dim=1} : f32[N,32]
}

// Named calls tell their attributes.
func ExampleNamed() {
	rewritten(passes.Rewrite{Name: "log-softmax", Doc: "Makes log_softmax of log(softmax(x)) along any dimension.",
		Pattern: func(x *tensor.Tensor) *tensor.Tensor {
			return passes.Named("softmax", passes.Loose(x.Softmax(0), "dim")).Log()
		},
		Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			dim := m.Attr("softmax", "dim").(int)
			return []*graph.Node{c.Function(std.LogSoftmax, tensor.DimAttrs{Dim: dim}, m.Node("softmax").Arg(0))}
		},
	}, func(x *tensor.Tensor) *tensor.Tensor { return x.Softmax(0).Log() })
	// Output: %log_softmax = call_function[log_softmax](%x) : f32[N,8]
}

// Twice a value is its sum with itself, however the two is written.
func ExampleConstant() {
	rewritten(passes.Rewrite{Name: "twice", Doc: "Adds a value to itself in place of a product by two.",
		Pattern:     func(x *tensor.Tensor) *tensor.Tensor { return passes.Commute(x.Mul(passes.Constant(2))) },
		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x.Add(x) },
	}, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Scalar(float32(2)).Mul(x).MulScalar(2) })
	// Output:
	// %add = call_function[add](%x, %x) : f32[N,8]
	// %add_1 = call_function[add](%add, %add) : f32[N,8]
}

// Checks are about the type of a value, its uses, its module, or what you like.
func ExampleIf() {
	even := func(n *graph.Node) string {
		if d, known := n.Type().Dim(-1).Int(); !known || d%2 != 0 {
			return "has an odd number of columns"
		}
		return ""
	}
	rewritten(passes.Rewrite{Name: "abs-relu", Doc: "Makes relu of abs, where checks allow it.",
		Pattern: func(x *tensor.Tensor) *tensor.Tensor {
			return passes.If(x.Abs(), passes.IsType("f32[N,C]"), passes.Uses(1, 1), passes.Within(""), even)
		},
		Replacement: func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() },
	}, func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Abs()
		return y.Sum().Abs().Add(y.Mul(y)).Abs()
	})
	// Output:
	// %abs = call_method[abs](%x) : f32[N,8]
	// %sum = call_method[sum](%abs) : f32[]
	// %abs_1 = call_method[abs](%sum) : f32[]
	// %mul = call_method[mul](%abs, %abs) : f32[N,8]
	// %add = call_method[add](%abs_1, %mul) : f32[N,8]
	// %relu = call_function[relu](%add) : f32[N,8]
}

// A check may be asked alone.
func ExampleIsType() {
	n := chain().Graph.Find("a")
	fmt.Printf("%q\n", passes.IsType("f32[R,4]")(n))
	fmt.Println(passes.IsType("f32[N,N]")(n))
	// Output:
	// ""
	// is f32[N,4], expected f32[N,N]
}

func ExampleUses() {
	fmt.Println(passes.Uses(0, 1)(chain().Graph.Find("b")))
	// Output: has 2 uses, expected 0 to 1
}

func ExampleWithin() {
	fmt.Println(passes.Within("encoder.*.attn")(chain().Graph.Find("b")))
	// Output: is in no module, expected one in encoder.*.attn
}

// A pass that is made of rules says why none of them matches.
func ExamplePass_Explain() {
	reasons, err := noDoubleNeg.Explain(chain().Graph.Find("a"))
	for _, r := range reasons {
		fmt.Println(r.Rule, r.Why, r.Matched, r.At)
	}
	fmt.Println(err)
	// Output:
	// double-neg matched 1 of 2: at %x: is placeholder, the pattern has neg 1 %x
	// <nil>
}

// Nodes know what made them, and StopAt ends a pass at one rewrite.
func ExampleStopAt() {
	m := chain()
	square := passes.Rule(passes.Rewrite{Name: "abs", Doc: "Makes abs of neg.",
		Pattern: tensor.Neg, Replacement: tensor.Abs})
	report, err := passes.Run(context.Background(), m, []passes.Pass{square}, passes.Options{StopAt: passes.StopAt{Pass: "abs", Match: 1}})
	fmt.Println(report.Matches("abs"), report.Passes[0].Stopped, err)
	for n := range m.Graph.Nodes() {
		if made, ok := passes.Made.Get(n); ok {
			fmt.Println(n, "is of", made)
		}
	}
	// Output:
	// 1 true <nil>
	// %abs is of rewrite 1 of pass abs, rule abs, from %a
}
