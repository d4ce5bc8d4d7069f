package onnx

import (
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
)

// rules are the operators by domain and name, each with its versions in rising order.
var rules map[string]map[string][]rule

func init() { // bodies of control flow need the table that they are in
	rules = map[string]map[string][]rule{"": {}, spec.Microsoft: {}, spec.MLDomain: mlRules}
	for _, t := range []map[string][]rule{contribRules, contribAttentionRules, contribQuantRules, inverseRules} {
		maps.Copy(rules["com.microsoft"], t)
	}
	for _, t := range []map[string][]rule{elementwiseRules, shapeRules, linearRules, reduceRules, normRules, moveRules, rnnRules, quantRules, imageRules, poolRules, resizeRules, signalRules, visionRules, controlRules, attentionRules,
		sequenceRules, byValueRules, linearAttentionRules, lossRules} {
		maps.Copy(rules[""], t)
	}
}

// from is the rule of an operator that has one meaning from a version on.
func from(since int, build func(c *call) []op.Value) []rule {
	return []rule{{since: since, build: build}}
}

// plain is a rule that calls one operator on the operands.
func plain(o *op.Op) []rule {
	return from(1, func(c *call) []op.Value { return c.one(o, nil, c.xs()...) })
}

// Operator is an operator that is imported.
type Operator struct {
	Domain, Name string
	// Since are the operator sets from which on it has the meanings that are known: 1
	// stands for any, another first number refuses older models.
	Since []int
}

// Operators lists the operators that are imported, by domain and name.
func Operators() (list []Operator) {
	for _, d := range slices.Sorted(maps.Keys(rules)) {
		for _, name := range slices.Sorted(maps.Keys(rules[d])) {
			o := Operator{Domain: d, Name: name}
			for _, r := range rules[d][name] {
				o.Since = append(o.Since, r.since)
			}
			list = append(list, o)
		}
	}
	return list
}
