package diag

// valueCodes explains the codes FX2xxx that only values can cause. The examples
// are Go functions of internal/testkit/faults, whose tests run them.
var valueCodes = []Info{
	{
		//gofx:code array.CodeTooLarge
		Code: "FX2009", Title: "memory beyond the limit",
		Cause:   "A result, the intermediate values of a plan together, or the scratch memory of a step takes more bytes than array.MaxBytes: the machine's memory (16 GiB where the system does not tell it), or what GOFX_MAX_BYTES or array.SetMaxBytes say, or the limit of one compilation (lowering.Options.MaxBytes, fxgen -max-bytes, without which fxgen takes half of the machine's memory). Sizes that are numbers, and whose product is beyond any machine, are refused before kernels are chosen.",
		Cure:    "Check the sizes; a -1 or a swapped argument is the usual cause. Raise the limit where the sizes are meant.",
		Example: `func tooLarge() { tensor.Ones(1<<30, 1<<30) }`,
	},
	{
		//gofx:code op.NoMeaning
		Code: "FX2020", Title: "an operator that cannot be computed here",
		Cause:   "A structural operator was called as arithmetic, or a result's size is not known although everything it depends on should be.",
		Cure:    "Use Go: return several results as such, control flow is tensor.Cond, While and Scan.",
		Example: `func noMeaning() { tensor.CallOp(op.GetItem, nil, weight(2)) }`,
	},
	{
		//gofx:code tensor.NilTensor
		Code: "FX2021", Title: "a nil tensor where one is needed",
		Cause: "A field of the model was not set, or an optional operand is used without a check.",
		Cure:  "Set the field in the constructor, or load the weights.",
		Example: `func nilTensor() {
	var x *tensor.Tensor
	x.Item()
}`,
	},
	{
		//gofx:code tensor.NotScalar
		Code: "FX2022", Title: "one number wanted, got several elements",
		Cause:   "Item and Bool need a tensor with exactly one element.",
		Cure:    "Reduce it first, or use Data.",
		Example: `func notScalar() { weight(2, 3).Item() }`,
	},
	{
		//gofx:code tensor.WrongElem
		Code: "FX2023", Title: "elements read as another type",
		Cause:   "The Go type given to tensor.Data is not that of the elements.",
		Cure:    "Give the element type, or Cast the tensor.",
		Example: `func wrongElem() { tensor.Data[int64](weight(2)) }`,
	},
	{
		//gofx:code op.InPlaceType
		Code: "FX2024", Title: "an in-place result that does not fit",
		Cause:   "The result of an in-place call has another shape than the tensor, or is a float written to integers.",
		Cure:    "Use the ordinary method.",
		Example: `func inPlaceType() { weight(2).AddInPlace(weight(3, 2)) }`,
	},
	{
		//gofx:code tensor.BadSize
		Code: "FX2025", Title: "a size argument of another type",
		Cause:   "A size argument is neither an int nor a tensor.Size.",
		Cure:    "Pass ints, or x.Size(i) for sizes that are known at run time only.",
		Example: `func badSize() { weight(6).Reshape("2", 3) }`,
	},
	{
		//gofx:code tensor.NoSequence
		Code: "FX2026", Title: "a scan without sequences",
		Cause: "tensor.Scan runs over axis 0 of its sequences and got none.",
		Cure:  "Give at least one sequence, or use tensor.While.",
		Example: `func noSequence() {
	tensor.Scan(func(carry, _ []*tensor.Tensor) (next, out []*tensor.Tensor) { return carry, nil }, []*tensor.Tensor{weight(1)}, nil)
}`,
	},
	{
		//gofx:code tensor.TooManyTrips kernel.CodeTrips lowering/gpu/internal/run.TooManyTrips
		Code: "FX2029", Title: "a loop of more trips than it says",
		Cause: "tensor.WhileAtMost was given a number of trips, after which its condition is still true.",
		Cure:  "Raise the number, or end the loop earlier.",
		Example: `func tooManyTrips() {
	tensor.WhileAtMost(2, func(in []*tensor.Tensor) *tensor.Tensor { return in[0].LtScalar(9).Any() },
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].AddScalar(1)} }, tensor.Zeros(1))
}`,
	},
	{
		//gofx:code tensor.SharedElement
		Code: "FX2028", Title: "a write to elements that share memory",
		Cause:   "An in-place call writes to a tensor that shows one element of its memory several times, as expand makes it.",
		Cure:    "Write to a Clone of it, or to the tensor that was expanded.",
		Example: `func sharedElement() { weight(3).Expand(2, 3).AddScalarInPlace(1) }`,
	},
	{
		//gofx:code kernel/internal/operand.IndexCode lowering/gpu.OutOfRange lowering/gpu/internal/run.OutOfRange
		Code: "FX2030", Title: "an index out of range",
		Cause:   "A value of an index tensor is negative or not below the size of the axis that it indexes.",
		Cure:    "Check the indices, for instance token ids against the vocabulary.",
		Example: `func badIndex() { tensor.Embedding(tensor.FromSlice([]int64{12}), weight(10, 4)) }`,
	},
	{
		//gofx:code kernel/internal/operand.EmptyCode
		Code: "FX2031", Title: "a maximum of nothing",
		Cause: "max, min, argmax and argmin have no value over an empty axis, and pools none over planes without elements; the type rule refuses known sizes of 0 (FX2003), the kernel those it meets at run time.",
		Cure:  "Guard against empty inputs.",
		Example: `func emptyMax() {
	var w kernel.Workspace
	(&kernel.Reduce{Kind: "max"}).Run(&w, []*array.Array{array.New(array.F32)}, []*array.Array{array.New(array.F32, 0)})
}`,
	},
	{
		//gofx:code kernel/internal/operand.OperandCode
		Code: "FX2032", Title: "operands that a kernel cannot take",
		Cause: "A kernel step was run on operands that the operator's type rule would have refused.",
		Cure:  "Call the operator instead of its step.",
		Example: `func badOperand() {
	// A step run by hand on operands that its operator's type rule would refuse.
	var w kernel.Workspace
	(&kernel.Concat{Dim: 0}).Run(&w, []*array.Array{array.New(array.F32, 3)}, []*array.Array{array.New(array.F32, 5)})
}`,
	},
	{
		//gofx:code kernel.CodeStep
		Code: "FX2033", Title: "a kernel of a user's operator panicked",
		Cause: "The Run method of a step outside of gofx panicked: most often it expects contiguous operands and gets strided ones, or reads another element type than the operator's rule allows.",
		Cure:  "Read array.Contiguous(x), refuse other element types in Infer, and expect operands without elements.",
		Example: `func stepFails() {
	tensor.CallOp(reverse(), nil, weight(2, 3).T()) // whose kernel reads array.Data of its operand
}`,
	},
}
