package contrib

import (
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

var inverseRules = map[string][]rule.Rule{"Inverse": {{Since: 1, Run: func(c *rule.Call) []*rule.Datum {
	c.Rank(0)
	c.Write()
	return c.Values([]op.Value{c.Do(std.Inverse, nil, c.X(0))})
}}}}
