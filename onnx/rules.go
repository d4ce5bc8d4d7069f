package onnx

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// mergeRules returns the rules of several tables.
func mergeRules(tables ...map[string][]rule) map[string][]rule {
	all := map[string][]rule{}
	for _, t := range tables {
		for name, versions := range t {
			if all[name] != nil {
				panic(diag.Bug("onnx: two tables have rules of " + name))
			}
			all[name] = versions
		}
	}
	return all
}

// from is the rule of an operator that has one meaning from a version on.
func from(since int, build func(c *call) []op.Value) []rule {
	return []rule{{since: since, build: build}}
}

// plain is a rule that calls one operator on the operands.
func plain(o *op.Op) []rule {
	return from(1, func(c *call) []op.Value { return c.one(o, nil, c.xs()...) })
}
