package onnx

import (
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

var inverseRules = map[string][]rule{"Inverse": {{since: 1, run: func(c *call) []*value {
	c.rank(0)
	c.write()
	return c.values([]op.Value{c.do(std.Inverse, nil, c.x(0))})
}}}}
