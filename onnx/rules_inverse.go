package onnx

import (
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

var inverseRules = map[string][]rule{"Inverse": {{since: 1, run: func(c *call) []*value {
	c.rank(0)
	c.b = builder{c.scope.cur, c.im}
	return c.values([]op.Value{c.do(std.Inverse, nil, c.x(0))})
}}}}

const microsoft = "com.microsoft"

// contributed are the operators that are written and that ONNX itself lacks, with their domains.
var contributed = map[string]string{"Inverse": microsoft}

// contributes reports whether a graph has one of them.
func contributes(g *pb.Graph) bool {
	for _, n := range g.Nodes {
		if n.Domain == microsoft {
			return true
		}
		for _, a := range n.Attrs {
			if a.G != nil && contributes(a.G) {
				return true
			}
		}
	}
	return false
}
