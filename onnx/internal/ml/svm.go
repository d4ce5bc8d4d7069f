package ml

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/ml"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Machines with support vectors: products of the operand with vectors, and sums of these
// products with coefficients. Data for pairs of classes is a matrix, made here.

// columns are some of a value, in dimension dim.
func columns(c *rule.Call, x op.Value, dim, from, to int) op.Value {
	return c.Do(std.Slice, std.SliceAttrs{Dim: dim, Start: shape.Const(from), Stop: shape.Const(to)}, x)
}

// kernelOf returns the kernel of an operand [N,F] with n vectors: [N,n].
func kernelOf(c *rule.Call, x op.Value, vectors []float64, n int) op.Value {
	kind := c.OneOf("kernel_type", "LINEAR", "POLY", "RBF", "SIGMOID")
	params := c.Floats("kernel_params")
	if len(params) != 3 && (kind != "LINEAR" || len(params) != 0) {
		panic(diag.New(spec.CodeModel, "kernel_params has "+strconv.Itoa(len(params))+" elements, expected gamma, coef0 and degree"))
	}
	if n < 1 || len(vectors) == 0 || len(vectors)%n != 0 {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(vectors))+" numbers of "+strconv.Itoa(n)+" vectors, expected as many for each"))
	}
	v := vector(c, "vectors", array.F32, vectors, n, len(vectors)/n)
	if kind == "RBF" { // by differences: of products of numbers that are not scaled little would be left
		d := c.Do(std.Sub, nil, c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, x), v)
		sum := c.Do(std.Sum, std.ReduceAttrs{Dim: op.IntList(2)}, c.Do(std.Mul, nil, d, d))
		return c.Do(std.Exp, nil, c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(-params[0])}, sum))
	}
	k := c.Do(std.Linear, nil, x, v)
	if kind == "LINEAR" {
		return k
	}
	k = c.Do(std.Add, std.AddAttrs{Other: op.Float(params[1])}, c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(params[0])}, k))
	if kind == "SIGMOID" {
		return c.Do(std.Tanh, nil, k)
	}
	return c.Do(std.Pow, std.ReversibleAttrs{Other: op.Float(params[2])}, k)
}

// rhoOf has at least n elements.
func rhoOf(c *rule.Call, n int) []float64 {
	rho := c.Floats("rho")
	if len(rho) < n || n < 1 {
		panic(diag.New(spec.CodeModel, "rho has "+strconv.Itoa(len(rho))+" elements, expected "+strconv.Itoa(n)))
	}
	return rho[:n]
}

// svmRegressor has one number for each row, or with one_class its sign.
func svmRegressor(c *rule.Call) []op.Value {
	transformOf(c) // which ONNX Runtime does not apply, and exporters leave at NONE
	x := features32(c)
	vectors, coef, rho := c.Floats("support_vectors"), c.Floats("coefficients"), rhoOf(c, 1)
	supports, sign := c.Int("n_supports", 0), c.Flag("one_class", false)
	var s op.Value
	if supports > 0 {
		if len(coef) != supports {
			panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(coef))+" coefficients, expected "+strconv.Itoa(supports)))
		}
		s = c.Do(std.Linear, nil, kernelOf(c, x, vectors, supports), vector(c, "coefficients", array.F32, coef, 1, len(coef)), vector(c, "rho", array.F32, rho))
	} else {
		c.Ignore("kernel_type", "kernel_params")
		if len(coef) == 0 {
			panic(diag.New(spec.CodeModel, "there are no coefficients, expected one for each feature"))
		}
		s = c.Do(std.Linear, nil, x, vector(c, "coefficients", array.F32, coef, 1, len(coef)), vector(c, "rho", array.F32, rho))
	}
	if sign {
		over := to(c, array.F32, c.Do(std.Gt, std.BinaryAttrs{Other: op.Float(0)}, s))
		s = c.Do(std.Add, std.AddAttrs{Other: op.Float(-1)}, c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(2)}, over))
	}
	return []op.Value{s}
}

// svm is a classifier that is read.
type svm struct {
	*rule.Call
	transform string
	labels    classLabels
	coef      []float64
	a, b      []float64 // of probabilities
}

func svmClassifier(c *rule.Call) []op.Value {
	m := svm{Call: c, transform: transformOf(c), labels: classLabelsOf(c, "classlabels_ints"), coef: c.Floats("coefficients"), a: c.Floats("prob_a"), b: c.Floats("prob_b")}
	x := features32(c)
	supports, vectors := c.List("vectors_per_class"), c.Floats("support_vectors")
	if m.labels.count < 1 || m.labels.count > mostClasses || len(m.coef) == 0 || len(m.a) != len(m.b) {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(m.labels.count)+" classes, "+strconv.Itoa(len(m.coef))+" coefficients and "+strconv.Itoa(len(m.a))+" and "+strconv.Itoa(len(m.b))+
			" numbers for probabilities, expected at most "+strconv.Itoa(mostClasses)+" classes, and as many of the last two"))
	}
	starts := []int{0}
	for _, n := range supports {
		if n < 0 || n > len(vectors) {
			panic(diag.New(spec.CodeModel, "a class has "+strconv.Itoa(n)+" vectors, expected 0 to "+strconv.Itoa(len(vectors))))
		}
		starts = append(starts, starts[len(starts)-1]+n)
	}
	if starts[len(starts)-1] == 0 {
		return m.linear(x)
	}
	return m.pairs(x, starts, vectors)
}

// mostClasses keeps matrices of pairs of classes small.
const mostClasses = 1 << 10

// linear has one row of coefficients for each class, and one rho for all.
func (m svm) linear(x op.Value) []op.Value {
	c, n := m.Call, m.labels.count
	c.Ignore("kernel_type", "kernel_params")
	if len(m.coef)%n != 0 {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(m.coef))+" coefficients for "+strconv.Itoa(n)+" classes, expected as many for each"))
	}
	s := c.Do(std.Linear, nil, x, vector(c, "coefficients", array.F32, m.coef, n, len(m.coef)/n))
	s = c.Do(std.Add, nil, s, vector(c, "rho", array.F32, rhoOf(c, 1)))
	y := top(c, s)
	if n == 2 && len(m.a) == 0 {
		greatest := c.Do(std.Amax, std.ReduceAttrs{Dim: op.IntList(1)}, s)
		o, limit := std.Gt, 0.0
		if !slices.ContainsFunc(m.coef, func(v float64) bool { return v < 0 }) {
			o, limit = std.Ge, 0.5
		}
		y = c.Do(std.Where, nil, c.Do(o, std.BinaryAttrs{Other: op.Float(limit)}, greatest), vector(c, "second", array.I64, []float64{1}), y)
	}
	return []op.Value{labelled(c, y, m.labels), transformed(c, s, m.transform)}
}

// pairs has a decision for each pair of classes, which vote.
func (m svm) pairs(x op.Value, starts []int, vectors []float64) []op.Value {
	c, n := m.Call, m.labels.count
	total := starts[len(starts)-1]
	pairs := n * (n - 1) / 2
	switch {
	case n < 2 || len(starts) != n+1:
		panic(diag.New(spec.CodeModel, "vectors_per_class has "+strconv.Itoa(len(starts)-1)+" elements for "+strconv.Itoa(n)+" classes, expected one for each of at least 2"))
	case len(m.coef) != (n-1)*total:
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(m.coef))+" coefficients, expected "+strconv.Itoa((n-1)*total)+", one less than classes for each vector"))
	case len(m.a) != 0 && len(m.a) != pairs:
		panic(diag.New(spec.CodeModel, "prob_a has "+strconv.Itoa(len(m.a))+" elements, expected "+strconv.Itoa(pairs)))
	case pairs*max(total, n) > mostSupports:
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(pairs)+" pairs of classes with "+strconv.Itoa(total)+" vectors, expected at most "+strconv.Itoa(mostSupports)+" products"))
	}
	// Decision p of classes i < j: row j-1 of the coefficients at the vectors of i, and row i at those of j.
	w, votes := make([]float64, pairs*total), make([]float64, n*pairs)
	p := 0
	for i := range n {
		for j := i + 1; j < n; j++ {
			row := w[p*total : (p+1)*total]
			copy(row[starts[i]:starts[i+1]], m.coef[(j-1)*total+starts[i]:])
			copy(row[starts[j]:starts[j+1]], m.coef[i*total+starts[j]:i*total+starts[j+1]])
			votes[i*pairs+p], votes[j*pairs+p] = 1, -1
			p++
		}
	}
	k := to(c, array.F64, kernelOf(c, x, vectors, total)) // large coefficients of both signs are added up
	s := to(c, array.F32, c.Do(std.Linear, nil, k, vector(c, "pairs", array.F64, w, pairs, total), vector(c, "rho", array.F64, rhoOf(c, pairs))))
	won := to(c, array.F32, c.Do(std.Gt, std.BinaryAttrs{Other: op.Float(0)}, s))
	bias := make([]float64, n) // a class wins the votes that the first of a pair loses
	for j := range bias {
		bias[j] = float64(j)
	}
	y := labelled(c, top(c, c.Do(std.Linear, nil, won, vector(c, "votes", array.F32, votes, n, pairs), vector(c, "second", array.F32, bias))), m.labels)
	switch {
	case len(m.a) > 0:
		v := c.Do(std.Add, nil, c.Do(std.Mul, nil, s, vector(c, "prob_a", array.F32, m.a)), vector(c, "prob_b", array.F32, m.b))
		v = c.Do(std.Clamp, std.ClampAttrs{Min: op.Float(float64(float32(1e-7))), Max: op.Float(float64(1 - float32(1e-7)))}, c.Do(std.Sigmoid, nil, c.Do(std.Neg, nil, v)))
		return []op.Value{y, transformed(c, c.Do(ml.PairwiseCoupling, ml.PairwiseCouplingAttrs{Classes: n}, v), m.transform)}
	case n == 2:
		return []op.Value{y, paired(c, s, m.transform, m.transform != "NONE")}
	}
	return []op.Value{y, transformed(c, s, m.transform)}
}

// mostSupports bounds the matrices that pairs of classes are written out as.
const mostSupports = 1 << 24
