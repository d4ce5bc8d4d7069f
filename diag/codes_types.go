package diag

// typeCodes explains the codes FX2xxx: element types, shapes and symbols.
var typeCodes = []Info{
	{
		//gofx:code kernel.CodeSizes shape.CodeEval
		Code: "FX2080", Title: "size cannot be computed",
		Cause:   "a symbolic size is needed as a number, but a symbol in it has no value, a divisor in it is zero, or the result leaves the range of integers",
		Cure:    "give every symbol of the expression a value, and inputs that are not empty where a size divides",
		Example: "2*N+1 with no value for N",
	},
	{
		//gofx:code op.ShapeMismatch
		Code: "FX2001", Title: "shapes do not broadcast",
		Cause: "two dimensions that must be equal or 1 differ",
		Cure:  "reshape or expand one operand",
		Example: `gofx 1
graph g(%x: f32[2,3], %y: f32[2,4]) {
  %z = call_function[add](%x, %y)
  return %z
}`,
	},
	{
		//gofx:code op.SizeMismatch kernel.CodeLengths
		Code: "FX2003", Title: "size does not fit",
		Cause: "an operand has another size than a weight or another operand expects",
		Cure:  "check the sizes of the layer against its input",
		Example: `gofx 1
graph g(%x: f32[2,3], %w: f32[5,4]) {
  %y = call_function[linear](%x, %w)
  return %y
}`,
	},
	{
		//gofx:code op.BadAttr
		Code: "FX2005", Title: "attribute out of its range",
		Cause: "an attribute is unknown, malformed or outside of the operator's range",
		Cure:  "give the operator's own attributes in their range; fxgen ops NAME lists them",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[relu](%x) {slope=1}
  return %y
}`,
	},
	{
		//gofx:code op.OperandCount
		Code: "FX2006", Title: "wrong number of operands",
		Cause: "a required operand is missing, or there are more than the operator takes",
		Cure:  "give the operands of the operator's signature",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[add](%x)
  return %y
}`,
	},
	{
		//gofx:code op.BadReshape
		Code: "FX2007", Title: "sizes do not hold the elements",
		Cause: "reshape to a shape with another number of elements",
		Cure:  "choose sizes whose product is the number of elements",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[reshape](%x) {shape=[4,2]}
  return %y
}`,
	},
	{
		//gofx:code op.BadAxis
		Code: "FX2008", Title: "axis out of range",
		Cause: "an axis is not below the number of dimensions",
		Cure:  "count axes from 0, or from -1 at the end",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[sum](%x) {dim=[2]}
  return %y
}`,
	},
	{
		//gofx:code op.DTypeMismatch op/expr.Untyped
		Code: "FX2004", Title: "element type not taken",
		Cause: "an operator does not take operands of that element type",
		Cure:  "convert the operand first",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[getitem](%x)
  return %y
}`,
	},
	{
		//gofx:code op.RankMismatch
		Code: "FX2002", Title: "wrong number of dimensions",
		Cause: "an operand has another rank than the operator takes",
		Cure:  "reshape or unsqueeze the operand",
		Example: `gofx 1
graph g(%x: f32[2,3], %w: f32[4,3,3,3]) {
  %y = call_function[conv2d](%x, %w)
  return %y
}`,
	},
	{
		//gofx:code graph.Contradiction
		Code: "FX2010", Title: "one symbol forced to two sizes",
		Cause: "two places need different values of one size, or one place needs a value that another rules out (N == 4 and N >= 6)",
		Cure:  "check which of the two places is meant",
		Example: `gofx 1
graph g(%x: f32[N], %y: f32[M]) {
  guard N == M
  guard N == M+1
  return %x
}`,
	},
}
