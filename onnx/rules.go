package onnx

import (
	"github.com/gofx-dev/gofx/op"
)

// from is the rule of an operator that has one meaning from a version on.
func from(since int, build func(c *call) []op.Value) []rule {
	return []rule{{since: since, build: build}}
}

// plain is a rule that calls one operator on the operands.
func plain(o *op.Op) []rule {
	return from(1, func(c *call) []op.Value { return c.one(o, nil, c.xs()...) })
}
