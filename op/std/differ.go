package std

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// The differences from PyTorch that several operators share.

// departs makes a difference whose calls are told by the operands alone.
func departs[A any](kind op.Departure, text string, when func(in []*array.Array) bool) op.Difference[A] {
	return op.Difference[A]{Kind: kind, Text: text, When: func(_ A, in []*array.Array) bool { return when(in) }}
}

// refusesMixed is of operators that do not promote: PyTorch looks at the types
// late, and not at all where there is nothing to compute.
func refusesMixed[A any]() op.Difference[A] {
	return departs[A](op.Refuses, "operands of different element types", mixed)
}

// refusesIntegers is of operators on floats that PyTorch composes of others, or
// whose types it does not look at where there is nothing to compute.
func refusesIntegers[A any]() op.Difference[A] {
	return departs[A](op.Refuses, "operands that are not floats", func(in []*array.Array) bool { return !floats(in...) })
}

func extendsIntegers[A any]() op.Difference[A] {
	return departs[A](op.Extends, "integers and bool", func(in []*array.Array) bool { return !floats(in...) })
}

func extendsEmpty[A any]() op.Difference[A] {
	return departs[A](op.Extends, "operands without elements, where there is nothing to compute", empty)
}

func extendsIndices[A any](k int) op.Difference[A] {
	return departs[A](op.Extends, "indices of every integer type that can hold them", func(in []*array.Array) bool { return in[k].DType() != array.I64 })
}

func refusesEps[A any](eps func(a A) float64) op.Difference[A] {
	return op.Difference[A]{Kind: op.Refuses, Text: "an eps that is negative or NaN", When: func(a A, _ []*array.Array) bool { return !(eps(a) >= 0) }}
}

// altersFactors is of normalisations, some with a variance as the third operand.
func altersFactors[A any](variance bool) op.Difference[A] {
	return departs[A](op.Alters, "the mean is subtracted before the factors are applied, where PyTorch makes one factor and one term of them "+
		"all first: the results are others where the operands or the factors are not finite or overflow", func(in []*array.Array) bool {
		if variance && len(in) > 2 && in[2] != nil && in[2].DType().IsFloat() {
			for i := range in[2].Len() {
				if array.Float64At(in[2], i) <= 0 {
					return true // with eps it may be 0
				}
			}
		}
		return slices.ContainsFunc(in, huge)
	})
}

// altersPadding is of convolutions.
func altersPadding[A any]() op.Difference[A] {
	return departs[A](op.Alters, "whether weights that are not finite meet the zeros of the padding, which makes NaN, follows from the algorithm, as in PyTorch", func(in []*array.Array) bool {
		return huge(in[1])
	})
}

// altersExpm1 is of activations with the exponential less 1.
func altersExpm1[A any](alpha func(a A) float64) op.Difference[A] {
	return op.Difference[A]{Kind: op.Alters, Text: "the exponential less 1 keeps its precision near 0, which shows for small elements and for a great alpha",
		When: func(a A, in []*array.Array) bool {
			if !(math.Abs(alpha(a)) < 1e3) {
				return true
			}
			for i := range in[0].Len() {
				if v := array.Float64At(in[0], i); v < 0 && v > -1e-7 {
					return true
				}
			}
			return false
		}}
}

// altersPower is of operators that take a root of powers of order p.
func altersPower[A any](p func(a A) float64) op.Difference[A] {
	return op.Difference[A]{Kind: op.Alters, Text: "the order is not rounded to f32, as PyTorch's is, which shows for f64 and for an order that f32 cannot hold",
		When: func(a A, in []*array.Array) bool {
			return math.Abs(p(a)) > math.MaxFloat32 || in[0].DType() == array.F64 && float64(float32(p(a))) != p(a)
		}}
}

// refusesFraction is of factors of integers.
func refusesFraction[A any](name string, factors func(a A) []op.Scalar) op.Difference[A] {
	return op.Difference[A]{Kind: op.Refuses, Text: "a " + name + " that is no integer for integers, which PyTorch truncates", When: func(a A, in []*array.Array) bool {
		return !floats(in...) && slices.ContainsFunc(factors(a), op.Scalar.IsFloat)
	}}
}

// refusesSums is of reductions with an element type to compute in.
func refusesSums[A any](dtype func(a A) array.DType) op.Difference[A] {
	return op.Difference[A]{Kind: op.Refuses, Text: "a dtype that does not hold the results of x: bool, and integers for floats", When: func(a A, in []*array.Array) bool {
		d := dtype(a)
		return d == array.Bool || d != array.Invalid && !d.IsFloat() && in[0].DType().IsFloat()
	}}
}

// extendsZero is of divisions of integers.
func extendsZero[A any](number func(a A) (op.Scalar, bool)) op.Difference[A] {
	return op.Difference[A]{Kind: op.Extends, Text: "the quotient and the remainder of integers by zero, which are 0", When: func(a A, in []*array.Array) bool {
		by := in[0]
		if _, reverse := number(a); !reverse && len(in) > 1 && in[1] != nil {
			by = in[1]
		}
		return !floats(in...) && hasZero(by)
	}}
}

// refusesZero is of divisions of integers by a number.
func refusesZero[A any](number func(a A) (op.Scalar, bool)) op.Difference[A] {
	return op.Difference[A]{Kind: op.Refuses, Text: "the number 0, and one that is 0 in the element type, as the divisor of integers, also where there is nothing to divide",
		When: func(a A, in []*array.Array) bool {
			n, reverse := number(a)
			return !floats(in...) && n.Present() && !reverse
		}}
}

// mixed reports whether the operands are of different element types.
func mixed(in []*array.Array) bool {
	d := array.Invalid
	for _, a := range in {
		if a == nil {
			continue
		}
		if d != array.Invalid && a.DType() != d {
			return true
		}
		d = a.DType()
	}
	return false
}

// floats reports whether all operands that are there are floats.
func floats(in ...*array.Array) bool {
	return !slices.ContainsFunc(in, func(a *array.Array) bool { return a != nil && !a.DType().IsFloat() })
}

// empty reports whether an operand has no elements.
func empty(in []*array.Array) bool {
	return slices.ContainsFunc(in, func(a *array.Array) bool { return a != nil && a.Len() == 0 })
}

// far reports whether coordinates are NaN or have hardly a fraction left.
func far(a *array.Array) bool {
	for i := range a.Len() {
		if v := array.Float64At(a, i); !(math.Abs(v) < 1<<16) {
			return true
		}
	}
	return false
}

// hasNaN reports whether an operand has an element that is no number.
func hasNaN(a *array.Array) bool {
	for i := range a.Len() {
		if math.IsNaN(array.Float64At(a, i)) {
			return true
		}
	}
	return false
}

// hasInf reports whether an operand has an infinite element.
func hasInf(a *array.Array) bool { return hasElement(a, math.Inf(1)) || hasElement(a, math.Inf(-1)) }

// hasElement reports whether an operand has an element of that value.
func hasElement(a *array.Array, v float64) bool {
	for i := range a.Len() {
		if array.Float64At(a, i) == v {
			return true
		}
	}
	return false
}

// unlikeFar is of gradients that are products and quotients of many terms.
func unlikeFar[A any](operands ...int) op.Difference[A] {
	return departs[A](op.GradAlters, "whether infinity or NaN comes of elements that are not finite or overflow follows from another order of the terms", func(in []*array.Array) bool {
		return slices.ContainsFunc(operands, func(i int) bool { return i < len(in) && (huge(in[i]) || in[i] != nil && tiny(in[i])) })
	})
}

// tiny reports whether an operand has elements whose products vanish.
func tiny(a *array.Array) bool {
	for i := range a.Len() {
		if v := math.Abs(array.Float64At(a, i)); v > 0 && v < 1e-18 {
			return true
		}
	}
	return false
}

// hasZero reports whether an integer operand has an element that is 0.
func hasZero(a *array.Array) bool {
	for i := range a.Len() {
		if array.Int64At(a, i) == 0 {
			return true
		}
	}
	return false
}

// huge reports whether a float operand has elements that are not finite, or whose
// products overflow.
func huge(a *array.Array) bool {
	if a == nil || !a.DType().IsFloat() {
		return false
	}
	limit := math.Sqrt(largest(a.DType()))
	for i := range a.Len() {
		if v := array.Float64At(a, i); !(math.Abs(v) < limit) {
			return true
		}
	}
	return false
}

// extendsParameters is of normalisations of narrow floats.
func extendsParameters[A any]() op.Difference[A] {
	return departs[A](op.Extends, "weight and bias of f32 for a narrower x, one of them alone as well", mixed)
}

// refusesStretched is of recurrent networks and cells with so many gates and states,
// whose first weights come after the states.
func refusesStretched[A any](gates, states int) op.Difference[A] {
	return departs[A](op.Refuses, "states, weights and biases of sizes that contradict one another, which PyTorch cuts and stretches", func(in []*array.Array) bool {
		if len(in) < 3+states || in[1+states] == nil || in[2+states] == nil {
			return false
		}
		wi, wh := in[1+states], in[2+states]
		return wi.Rank() == 2 && wh.Rank() == 2 && wi.Dim(0) != gates*wh.Dim(1) ||
			wi.Rank() == 2 && slices.ContainsFunc(in[3+states:], func(a *array.Array) bool {
				return a != nil && a.Rank() == 2 && a.Dim(1) == wi.Dim(0) // a bias for each row
			}) ||
			slices.ContainsFunc(in, func(a *array.Array) bool {
				return a != nil && (a.Rank() == 0 || a.Dim(-1) == 1 || a.Rank() > 1 && a.Dim(0) == 1)
			})
	})
}

// altersClosed is of cells whose gates multiply what may be infinite.
func altersClosed[A any]() op.Difference[A] {
	return departs[A](op.Alters, "a gate that is all but closed is 0 here and may be the least number in PyTorch, which shows if infinite weights, or states that overflow, are multiplied by it", func(in []*array.Array) bool {
		return slices.ContainsFunc(in, func(a *array.Array) bool { return a != nil && huge(a) })
	})
}

// altersOverflow is of weighted sums of elements of x.
func altersOverflow[A any]() op.Difference[A] {
	return departs[A](op.Alters, "whether infinity or NaN comes of elements that are not finite or overflow follows from another order of the products", func(in []*array.Array) bool { return huge(in[0]) })
}

// altersPartial is of products of many elements.
func altersPartial[A any]() op.Difference[A] {
	return departs[A](op.Alters, "products whose partial products may leave the range of the element type, which follows from the order", func(in []*array.Array) bool {
		if !in[0].DType().IsFloat() {
			return false
		}
		var up, down float64 // binary orders of magnitude
		for i := range in[0].Len() {
			if v := math.Abs(array.Float64At(in[0], i)); v > 1 {
				up += math.Log2(v)
			} else if v > 0 {
				down -= math.Log2(v)
			}
		}
		return max(up, down) > 0.9*math.Log2(max(largest(in[0].DType()), math.MaxFloat32))
	})
}

// refusesScalars is of normalisations.
func refusesScalars[A any]() op.Difference[A] {
	return departs[A](op.Refuses, "statistics and factors that are no vectors", func(in []*array.Array) bool {
		return slices.ContainsFunc(in[1:], func(a *array.Array) bool { return a != nil && a.Rank() != 1 })
	})
}

// altersZeroEps is of normalisations by the statistics of a batch.
func altersZeroEps[A any](eps func(a A) float64) op.Difference[A] {
	return op.Difference[A]{Kind: op.Alters, Text: "an eps of 0 with a variance of 0 gives NaN, where PyTorch multiplies by 0", When: func(a A, _ []*array.Array) bool { return eps(a) == 0 }}
}

// altersRemainder is of remainders of floats.
func altersRemainder[A any]() op.Difference[A] {
	return departs[A](op.Alters, "remainders are exact where the quotient overflows, too: PyTorch has NaN for some", func(in []*array.Array) bool {
		return slices.ContainsFunc(in, func(a *array.Array) bool {
			for i := 0; a != nil && i < a.Len(); i++ {
				if v := math.Abs(array.Float64At(a, i)); v > 0 && v < 1e-30 || v > 1e30 {
					return true
				}
			}
			return false
		})
	})
}

// refusesNoKernel is of convolutions over n dimensions.
func refusesNoKernel[A any](n int) op.Difference[A] {
	return departs[A](op.Refuses, "a kernel of size 0", func(in []*array.Array) bool {
		return in[1].Rank() == n+2 && slices.Contains(in[1].Shape()[2:], 0)
	})
}

func avgPoolDiffers(n int) []op.Difference[AvgPoolAttrs] {
	out := []op.Difference[AvgPoolAttrs]{extendsEmpty[AvgPoolAttrs](),
		{Kind: op.Refuses, Text: "a negative divisor_override", When: func(a AvgPoolAttrs, _ []*array.Array) bool { return a.DivisorOverride < 0 }},
		{Kind: op.Alters, Text: "a divisor_override beyond i32 keeps all its bits", When: func(a AvgPoolAttrs, _ []*array.Array) bool { return a.DivisorOverride > math.MaxInt32 }}}
	switch n {
	case 1:
		out = append(out, op.Difference[AvgPoolAttrs]{Kind: op.Extends, Text: "divisor_override, which PyTorch has for two and three dimensions",
			When: func(a AvgPoolAttrs, _ []*array.Array) bool { return a.DivisorOverride != 0 }})
	case 3:
		out = append(out, op.Difference[AvgPoolAttrs]{Kind: op.Extends, Text: "an x smaller than the kernel that is not with its padding or with ceil_mode, as PyTorch does for one and two dimensions",
			When: func(a AvgPoolAttrs, _ []*array.Array) bool { return a.Padding.Len() > 0 || a.CeilMode }})
	}
	return out
}

func adaptivePoolDiffers(n int) []op.Difference[AdaptivePoolAttrs] {
	return []op.Difference[AdaptivePoolAttrs]{extendsEmpty[AdaptivePoolAttrs](), refusesIntegers[AdaptivePoolAttrs](),
		{Kind: op.Alters, Text: "an output_size of 0 keeps the size of x, as -1 does, PyTorch's None: there it gives no elements", When: func(a AdaptivePoolAttrs, _ []*array.Array) bool {
			return slices.Contains(a.OutputSize.Slice(), 0)
		}},
		departs[AdaptivePoolAttrs](op.Refuses, "an x of another rank or of size 0 in a pooled dimension, which PyTorch takes where the result has one element", func(in []*array.Array) bool {
			return in[0].Rank() < n+1 || in[0].Rank() > n+2 || in[0].Len() == 0
		})}
}
