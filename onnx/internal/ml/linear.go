package ml

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// Transforms of scores, as ONNX Runtime has them: a column that stands for two classes is
// treated apart, and a column that stands for itself has PROBIT alone.

// transformOf is the attribute post_transform.
func transformOf(c *rule.Call) string {
	return c.OneOf("post_transform", "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
}

// transformed applies a transform to rows of scores.
func transformed(c *rule.Call, s op.Value, transform string) op.Value {
	columns, known := s.Type().Dim(-1).Int()
	if known && columns == 1 && transform != "PROBIT" {
		return s
	}
	switch transform {
	case "SOFTMAX":
		return c.Do(std.Softmax, std.DimAttrs{Dim: -1}, s)
	case "LOGISTIC":
		return c.Do(std.Sigmoid, nil, s)
	case "SOFTMAX_ZERO":
		return softmaxZero(c, s)
	case "PROBIT":
		return probit(c, s)
	}
	return s
}

// softmaxZero leaves scores of (nearly) zero out of the softmax of the others.
func softmaxZero(c *rule.Call, s op.Value) op.Value {
	a := std.ReduceAttrs{Dim: op.IntList(-1), KeepDim: true}
	top := c.Do(std.Amax, a, s)
	counts := c.Do(std.Gt, std.BinaryAttrs{Other: op.Float(float64(float32(0.0000001)))}, c.Do(std.Abs, nil, s))
	e := c.Do(std.Exp, nil, c.Do(std.Sub, nil, s, top))
	zero := tableOf(c, "zero", array.New(s.Type().DType(), 1))
	e = c.Do(std.Where, nil, counts, e, zero)
	rest := c.Do(std.Where, nil, counts, zero, c.Do(std.Mul, nil, s, c.Do(std.Exp, nil, c.Do(std.Neg, nil, top))))
	return c.Do(std.Div, nil, c.Do(std.Add, nil, e, rest), c.Do(std.Sum, a, e))
}

// probit is the inverse of the normal distribution, by Winitzki's approximation of the
// inverse error function, with the digits that ONNX Runtime takes.
func probit(c *rule.Call, s op.Value) op.Value {
	const a = 0.147
	times := func(x op.Value, f float64) op.Value { return c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(f)}, x) }
	plus := func(x op.Value, f float64) op.Value { return c.Do(std.Add, std.AddAttrs{Other: op.Float(f)}, x) }
	x := plus(times(s, 2), -1)
	log := c.Do(std.Log, nil, c.Do(std.Mul, nil, plus(c.Do(std.Neg, nil, x), 1), plus(x, 1)))
	v := plus(times(log, 0.5), 2/(3.14159*a))
	root := c.Do(std.Sqrt, nil, c.Do(std.Sub, nil, c.Do(std.Mul, nil, v, v), times(log, 1/a)))
	r := c.Do(std.Sqrt, nil, c.Do(std.Sub, nil, root, v))
	one := vector(c, "signs", s.Type().DType(), []float64{-1, 1})
	sign := c.Do(std.Where, nil, c.Do(std.Lt, std.BinaryAttrs{Other: op.Float(0)}, x), item(c, one, 0), item(c, one, 1))
	return times(c.Do(std.Mul, nil, sign, r), 1.41421356)
}

// item is an element of a vector, as a vector.
func item(c *rule.Call, v op.Value, i int) op.Value { return columns(c, v, 0, i, i+1) }

// paired makes two columns of one that says how much for the second class: of
// probabilities one less than 1, else the opposite.
func paired(c *rule.Call, s op.Value, transform string, probability bool) op.Value {
	var other op.Value
	switch {
	case transform == "PROBIT":
		panic(diag.New(spec.CodeAttribute, "post_transform PROBIT of one score for two classes is not supported: runtimes differ"))
	case transform == "LOGISTIC":
		other, s = c.Do(std.Sigmoid, nil, c.Do(std.Neg, nil, s)), c.Do(std.Sigmoid, nil, s)
	case probability:
		other = c.Do(std.Add, std.AddAttrs{Other: op.Float(1)}, c.Do(std.Neg, nil, s))
	default:
		other = c.Do(std.Neg, nil, s)
	}
	return c.Do(std.Cat, std.DimAttrs{Dim: 1}, other, s)
}

// classLabels are the classes; their number is known where they are strings, too.
type classLabels struct {
	ints  []int
	count int
	names bool
}

func classLabelsOf(c *rule.Call, ints string) classLabels {
	names, list := texts(c, "classlabels_strings"), c.List(ints)
	if len(names) > 0 {
		if len(c.Node.Outputs) > 0 && c.Node.Outputs[0] != "" && isRead(c, c.Node.Outputs[0]) {
			e := stringsRefused("the classes")
			e.Hint += "; scores alone can be read: drop output " + diag.Quote(c.Node.Outputs[0])
			panic(e)
		}
		return classLabels{count: len(names), names: true}
	}
	return classLabels{ints: list, count: len(list)}
}

// isRead reports whether a value of the main graph is an output of the model, or an operand.
func isRead(c *rule.Call, name string) bool {
	if !c.Main {
		return true
	}
	for _, o := range c.Draft.Model.Graph.Outputs {
		if o.Name == name {
			return true
		}
	}
	for _, n := range c.Draft.Model.Graph.Nodes {
		for _, a := range n.Attrs {
			if a.G != nil || len(a.Graphs) > 0 {
				return true // a body may read it
			}
		}
		for _, in := range n.Inputs {
			if in == name {
				return true
			}
		}
	}
	return false
}

// labelled are the classes at some places among them; where their names are strings nobody
// reads them, and the places stand for them.
func labelled(c *rule.Call, place op.Value, l classLabels) op.Value {
	for i, v := range l.ints {
		if v != i {
			return c.Do(std.IndexSelect, std.DimAttrs{}, labelsOf(c, "classes", l.ints), place)
		}
	}
	return place
}

// top is the first of the greatest columns.
func top(c *rule.Call, s op.Value) op.Value {
	return c.Do(std.Argmax, std.ArgAttrs{Dim: op.IntList(1)}, s)
}

// secondOf is 1 where the only column is greater than a limit.
func secondOf(c *rule.Call, s op.Value, limit float64) op.Value {
	over := c.Do(std.Gt, std.BinaryAttrs{Other: op.Float(limit)}, s)
	return c.Do(std.Flatten, std.FlattenAttrs{EndDim: -1}, to(c, array.I64, over))
}

// linearScores are products with coefficients, a row for each result.
func linearScores(c *rule.Call, targets int, intercepts []float64) op.Value {
	x := features32(c)
	coef := c.Floats("coefficients")
	if targets < 1 || len(coef) == 0 || len(coef)%targets != 0 {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(coef))+" coefficients for "+strconv.Itoa(targets)+" results, expected as many for each"))
	}
	var bias op.Value
	switch len(intercepts) {
	case 0:
	case targets:
		bias = vector(c, "intercepts", array.F32, intercepts)
	default:
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(intercepts))+" intercepts, expected "+strconv.Itoa(targets)))
	}
	return c.Do(std.Linear, nil, x, vector(c, "coefficients", array.F32, coef, targets, len(coef)/targets), bias)
}

func linearRegressor(c *rule.Call) []op.Value {
	transform := transformOf(c)
	return []op.Value{transformed(c, linearScores(c, c.Int("targets", 1), c.Floats("intercepts")), transform)}
}

// linearClassifier has one row of coefficients for each class, or for two of them.
func linearClassifier(c *rule.Call) []op.Value {
	c.Ignore("multi_class") // how the model was trained
	transform, l := transformOf(c), classLabelsOf(c, "classlabels_ints")
	b := c.Floats("intercepts")
	s := linearScores(c, len(b), b)
	if len(b) == 1 {
		switch l.count {
		case 0:
			l.ints = []int{0, 1}
		case 2:
		default:
			panic(diag.New(spec.CodeModel, "there is one score for "+strconv.Itoa(l.count)+" classes, expected 2"))
		}
		y := labelled(c, secondOf(c, s, 0), l)
		if l.count == 0 {
			return []op.Value{y, transformed(c, s, transform)}
		}
		return []op.Value{y, paired(c, s, transform, true)}
	}
	if l.count != len(b) {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(b))+" scores for "+strconv.Itoa(l.count)+" classes, expected as many"))
	}
	return []op.Value{labelled(c, top(c, s), l), transformed(c, s, transform)}
}
