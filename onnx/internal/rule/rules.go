package rule

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
)

// Merge returns the rules of several tables.
func Merge(tables ...map[string][]Rule) map[string][]Rule {
	all := map[string][]Rule{}
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

// From is the rule of an operator that has one meaning from a version on.
func From(since int, build func(c *Call) []op.Value) []Rule {
	return []Rule{{Since: since, Build: build}}
}

// Plain is a rule that calls one operator on the operands.
func Plain(o *op.Op) []Rule {
	return From(1, func(c *Call) []op.Value { return c.One(o, nil, c.Xs()...) })
}
