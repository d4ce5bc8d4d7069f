package xla

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/expand"
)

// rule emits a call and returns its results, one for each member of a tuple. It panics
// with a refusal when it cannot.
type rule func(c *call) []*value

// rules is the table of what operators become. Those with a scalar expression need no
// rule, and all others are expanded: a rule is for what the dialect has an operation for
// that other operators only imitate.
var rules lowering.Rules[rule]

// constant tells of pads whether the dialect has them.
func constant(n *graph.Node) bool {
	a, _ := n.Attrs().(std.PadAttrs)
	return a.Mode == "" || a.Mode == "constant"
}

// only says of operators whose rule is for some calls for which it is.
var only = map[*op.Op]func(n *graph.Node) bool{std.Pad: constant}

// unexpanded are the operators that no others stand for, and why.
var unexpanded = expand.Reasons()

// one is the rule of operators with one result.
func one(f func(c *call) *value) rule { return func(c *call) []*value { return []*value{f(c)} } }

func init() {
	rules = lowering.Rules[rule]{}
	add := func(r rule, ops ...*op.Op) {
		for _, o := range ops {
			rules[o] = r
		}
	}
	add(one(reshape), std.Reshape, std.Clone, std.Wait)
	add(one(barrier), std.Barrier)
	add(one(permute), std.Permute)
	add(one(broadcast), std.Expand)
	add(one(slice), std.Slice)
	add(one(flip), std.Flip)
	add(one(cat), std.Cat)
	add(one(pad), std.Pad)
	add(one(bitcast), std.Bitcast)

	add(one(reduce), std.Sum, std.Prod, std.Amax, std.Amin, std.All, std.Any)
	add(one(arg), std.Argmax, std.Argmin)
	add(minMaxDim, std.MaxDim, std.MinDim)
	add(one(cumulate), std.Cumsum, std.Cumprod)
	add(one(determinant), std.Det)

	add(one(matmul), std.Matmul, std.Bmm)
	add(one(linear), std.Linear)
	add(one(convolve), std.Conv1d, std.Conv2d, std.Conv3d)
	add(one(convTranspose), std.ConvTranspose1d, std.ConvTranspose2d, std.ConvTranspose3d)

	add(maxPool, std.MaxPool1d, std.MaxPool2d, std.MaxPool3d, std.MaxPool1dWithIndices, std.MaxPool2dWithIndices, std.MaxPool3dWithIndices)
	add(one(avgPool), std.AvgPool1d, std.AvgPool2d, std.AvgPool3d)

	add(one(gather), std.Gather)
	add(one(indexSelect), std.IndexSelect)
	add(one(embedding), std.Embedding)
	add(one(scatter), std.Scatter, std.ScatterReduce)
	add(sort, std.Sort)

	add(lstm, std.Lstm)
	add(gru, std.Gru)
	add(rnn, std.Rnn)
	add(qLstm, std.QLstm)
	add(qGru, std.QGru)
}
