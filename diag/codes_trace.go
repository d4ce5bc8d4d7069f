package diag

// traceCodes explains the codes FX1xxx: capture of Go functions and modules, and
// running what was captured. The examples stand in internal/testkit/faults, whose tests
// run them.
var traceCodes = []Info{
	{
		//gofx:code tensor.MixedEngines
		Code: "FX1001", Title: "operands of two traces",
		Cause: "A traced value was kept from another trace, for instance in a field or a variable of an enclosing function that is itself being traced.",
		Cure:  "Pass the value as an input of the inner function.",
		Example: `func mixesTraces(x *tensor.Tensor) *tensor.Tensor {
	_, err := fx.Trace(ctx, func(y *tensor.Tensor) *tensor.Tensor {
		return y.Add(x)
	})
	if err != nil {
		panic(first(err))
	}
	return x
}`,
	},
	{
		//gofx:code tensor.BadWrap
		Code: "FX1002", Title: "a wrapped function takes or returns other values than tensors",
		Cause: "tensor.Wrap takes functions whose parameters and results are all *tensor.Tensor.",
		Cure:  "Bind the other values in a function of tensors alone, and wrap that.",
		Example: `func wrapsWrong(x *tensor.Tensor) *tensor.Tensor {
	f := tensor.Wrap(func(x *tensor.Tensor, n int) *tensor.Tensor { return x })
	return f(x, 3)
}`,
	},
	{
		//gofx:code tracer.BadTarget
		Code: "FX1003", Title: "the argument of Trace cannot be traced",
		Cause: "The argument of Trace is neither a function nor a pointer to a struct with a Forward method.",
		Cure:  "Pass a function of tensors or a pointer to a module; name another method with fx.Method.",
		Example: `func badTarget() error {
	_, err := fx.Trace(ctx, struct{}{})
	return err
}`,
	},
	{
		//gofx:code tracer.DataRead
		Code: "FX1004", Title: "the model reads data of a traced tensor",
		Cause: "Item, Data, Bool, Equal and Array need values, which exist only at run time. Branching on them would fix one path for all inputs.",
		Cure:  "Keep the computation in tensors (Where, Maximum), use tensor.Cond or tensor.While for control flow, or make the function opaque with tensor.Wrap.",
		Example: `func branchOnData(x *tensor.Tensor) *tensor.Tensor {
	if x.Sum().Item() > 0 {
		return x.Neg()
	}
	return x
}`,
	},
	{
		//gofx:code tracer.UnknownSize
		Code: "FX1005", Title: "the model needs a size as a number",
		Cause: "Dim, Shape, Size.Int, the text of a Size and Size.Equal need to know sizes; under a trace a size may be symbolic or unknown, and values that depend on it would be fixed for all runs.",
		Cure:  "Use x.Size(i), which may stay an expression and is accepted wherever a size is; give the input a fixed size; or give equal sizes one name (f32[N,N]).",
		Example: `func sizesAsNumbers(x *tensor.Tensor) *tensor.Tensor {
	batch := x.Dim(0)
	y := x.DivScalar(float64(x.Dim(1)))
	n := x.Size(1).Mul(2).Int()
	if x.Size(0).Int() > batch && n > 3 {
		return y
	}
	return y.Relu()
}`,
	},
	{
		//gofx:code tracer.UnknownRank
		Code: "FX1006", Title: "the model needs a rank that is not known",
		Cause: "The input was traced without a type.",
		Cure:  "Give the input a type, such as fx.Input(\"x\", \"f32[N,3,224,224]\").",
		Example: `func rankUnknown(x *tensor.Tensor) *tensor.Tensor {
	if x.Rank() == 2 {
		return x.Neg()
	}
	return x
}`,
	},
	{
		//gofx:code tracer.UserPanic
		Code: "FX1007", Title: "the model panicked or returned an error",
		Cause: "Ordinary Go code of the model failed while it ran on proxies. Fields of the module that are nil are named.",
		Cure:  "Run the model eagerly first; the position is the innermost line of the model. Assign fields that are nil in the constructor.",
		Example: `func panics(x *tensor.Tensor) *tensor.Tensor {
	var layers []*tensor.Tensor
	return x.Add(layers[0])
}`,
	},
	{
		//gofx:code tracer.Brake
		Code: "FX1008", Title: "the trace does not end",
		Cause: "A loop depends on a value that a proxy does not have, or the graph grew past its limit.",
		Cure:  "Loop with tensor.While or tensor.Scan; raise Tracer.MaxNodes for very large models.",
		Example: `func loopOnData(x *tensor.Tensor) *tensor.Tensor {
	for x.Sum().Item() < 10 {
		x = x.AddScalar(1)
	}
	return x
}`,
	},
	{
		//gofx:code tracer.Overlap lazy.Overlap
		Code: "FX1009", Title: "two goroutines use one trace or session at once",
		Cause: "The model starts goroutines that call tensor operations while others are recorded. The calls that came too early have no result; the trace reports them when it ends. In a session the second call panics.",
		Cure:  "Trace from one goroutine; handing the trace over is fine, using it from two at once is not. Give each goroutine a session of its own.",
		Example: `func overlap() error {
	// While one call is being recorded, another goroutine makes the next one.
	_, err := fx.Trace(ctx, negate, fx.With(func(p *tracer.Tracer) {
		p.OnCall = func(c *tensor.Call, record func(*tensor.Call) []*tensor.Tensor) []*tensor.Tensor {
			done := make(chan *tensor.Tensor)
			go func() { done <- c.Args[0].Relu() }()
			<-done
			return record(c)
		}
	}))
	return err
}`,
	},
	{
		//gofx:code tracer/alias.Stale lazy.Stale
		Code: "FX1010", Title: "a tensor is used after a write to memory that it may share",
		Cause: "An in-place call wrote to memory that the tensor shares for some sizes or some runs and not for others (a reshape that copies only where it must, the result of a loop or of a Go function), so that no one value is right.",
		Cure:  "Clone one of the two before the in-place call, or replace that by an ordinary one.",
		Example: `func staleView(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(2)
	flat := y.T().Reshape(-1)
	y.AddScalarInPlace(1)
	return flat.Relu()
}`,
	},
	{
		//gofx:code tracer.InputWrite
		Code: "FX1011", Title: "an in-place call writes to an input",
		Cause: "Eagerly the caller would see the change; a graph does not write to its inputs.",
		Cure:  "Use the ordinary method and its result.",
		Example: `func writesInput(x *tensor.Tensor) *tensor.Tensor {
	x.AddScalarInPlace(1)
	return x.Neg()
}`,
	},
	{
		//gofx:code tracer.BadArgument
		Code: "FX1012", Title: "an argument that cannot be traced",
		Cause:   "A parameter is not made of tensors and has no concrete value, or its number of tensors is not known.",
		Cure:    "Give a concrete value or an example made of fx.Meta tensors with fx.Args.",
		Example: `func needsNumber(x *tensor.Tensor, n int) *tensor.Tensor { return x.MulScalar(n) }`,
	},
	{
		//gofx:code tracer.BadResult
		Code: "FX1013", Title: "a result that cannot be traced",
		Cause:   "The function returns something that is not made of tensors, or no tensor at all.",
		Cure:    "Return tensors, or slices, maps and structs of them.",
		Example: `func returnsNumber(x *tensor.Tensor) (*tensor.Tensor, int) { return x.Neg(), 3 }`,
	},
	{
		//gofx:code tracer.RegionMismatch tracer/record.RegionMismatch tensor.RegionMismatch
		Code: "FX1014", Title: "regions that do not fit",
		Cause: "The functions given to Cond, While or Scan return different numbers or types of tensors, or a value made inside one is used outside.",
		Cure:  "Return the same structure from both branches, carried values of unchanged type from a loop body, and every value that is needed outside.",
		Example: `func regionsDiffer(x *tensor.Tensor) *tensor.Tensor {
	out := tensor.Cond(x.Sum().GtScalar(0),
		func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0], in[0]} },
		func(in []*tensor.Tensor) []*tensor.Tensor { return in }, x)
	return out[0]
}`,
	},
	{
		//gofx:code tracer.Ended
		Code: "FX1015", Title: "a traced value is used after its trace",
		Cause: "A proxy was kept in a global, a field or a variable that outlives the trace.",
		Cure:  "Do not keep traced tensors.",
		Example: `func outlives(x *tensor.Tensor) *tensor.Tensor {
	if _, err := fx.Trace(ctx, func(y *tensor.Tensor) *tensor.Tensor { leaked = y; return y.Neg() }); err != nil {
		return nil
	}
	return leaked.Relu()
}`,
	},
	{
		//gofx:code tracer.UnseenWrite lazy.Unseen
		Code: "FX1016", Title: "a write to a tensor that the trace cannot see",
		Cause: "The model updated a tensor by a computation without any traced value, in a region or before the tensor's first traced use; it ran once, during the trace.",
		Cure:  "Write tensor.On(x, t) for the tensor t, where x is an input.",
		Example: `func unseen(x *tensor.Tensor) *tensor.Tensor {
	calls := tensor.Zeros(1)
	count := func(in []*tensor.Tensor) []*tensor.Tensor {
		calls.AddScalarInPlace(1)
		return []*tensor.Tensor{in[0].Add(calls)}
	}
	return tensor.Cond(x.Sum().GtScalar(0), count, count, x)[0]
}`,
	},
	{
		//gofx:code tracer/alias.NoInverse
		Code: "FX1017", Title: "a write through a view that cannot be traced back",
		Cause: "The in-place call's target shows elements of another tensor in a way that has no inverse: expand shows one element several times.",
		Cure:  "Write to a Clone, or use the ordinary method and its result.",
		Example: `func writesExpanded(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(2)
	y.Unsqueeze(0).Expand(3, -1).AddScalarInPlace(1)
	return y
}`,
	},
	{
		//gofx:code tensor.NotRecorded
		Code: "FX1018", Title: "gradient of a computation that nothing recorded",
		Cause: "tensor.Grad needs to know how the loss was computed; code that simply runs keeps no record of it.",
		Cure:  "Compute the loss in a function that fx.ValueAndGrad runs, or that fx.Trace captures.",
		Example: `func notRecorded() {
	w := weight(3)
	tensor.Grad(w.Square().Sum(), w)
}`,
	},
	{
		//gofx:code tracer.Around
		Code: "FX1019", Title: "gradient inside a branch or loop that lacks what lies around it",
		Cause: "tensor.Grad in a function of Cond, While or Scan differentiates what that function computes. The loss depends, besides, on a value that may be computed from the tensor outside of it, or in an earlier round.",
		Cure:  "Compute the value in the function, call Grad outside, or use value.Detach() for one that counts as constant.",
		Example: `func gradOfABranch(x *tensor.Tensor) *tensor.Tensor {
	y := x.Square()
	then := func(in []*tensor.Tensor) []*tensor.Tensor {
		return tensor.Grad(y.Mul(x).Sum(), x)
	}
	els := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.Clone()} }
	return tensor.Cond(x.Sum().GtScalar(0), then, els)[0]
}`,
	},
	{
		//gofx:code interp.MissingInput graph/guard.Missing kernel.CodeMissing
		Code: "FX1020", Title: "an input is missing",
		Cause: "A placeholder without a default got no value.",
		Cure:  "Give all inputs, in the order of the placeholders.",
		Example: `func missingInput() error {
	gm, err := fx.Trace(ctx, negate)
	if err == nil {
		_, err = gm.Run(ctx)
	}
	return err
}`,
	},
	{
		//gofx:code interp.ExtraInput graph/guard.Extra
		Code: "FX1021", Title: "too many inputs",
		Cause: "More inputs were given than the graph has placeholders.",
		Cure:  "Concrete arguments are fixed in the graph and are not given again.",
		Example: `func extraInput() error {
	gm, err := fx.Trace(ctx, negate)
	if err == nil {
		_, err = gm.Run(ctx, weight(1), weight(1))
	}
	return err
}`,
	},
	{
		//gofx:code interp.GuardFailed graph/guard.Failed kernel.CodeArgument
		Code: "FX1022", Title: "an input does not fit the graph",
		Cause: "The graph was captured for another element type, rank or size, sizes differ for which its types have one letter, or they break a guard: some must be equal or differ, at least or at most another, or a multiple of a number. The message says which size is needed, and where the operator that needs it is called.",
		Cure:  "Give inputs of sizes that fit, or capture it again for these inputs or with symbolic sizes.",
		Example: `func guardFailed() error {
	gm, err := fx.Trace(ctx, negate, fx.Input("x", "f32[N,3]"))
	if err == nil {
		_, err = gm.Run(ctx, weight(2, 4))
	}
	return err
}`,
	},
	{
		//gofx:code interp.NoParam
		Code: "FX1023", Title: "a parameter is not in the state",
		Cause: "A get_attr node names a tensor that the module does not have.",
		Cure:  "Add it with Module.SetParam, or load the weights.",
		Example: `func noParam() error {
	g := graph.New("net")
	g.At().Output(nil, g.At().GetAttr("weight"))
	_, err := fx.NewGraphModule(graph.NewModule(g)).Run(ctx)
	return err
}`,
	},
	{
		//gofx:code interp.NoModule
		Code: "FX1024", Title: "a called module is unknown",
		Cause: "A call_module node names a leaf that the module has no record of.",
		Cure:  "Add it with Module.SetBound.",
		Example: `func noModule() error {
	g := graph.New("net")
	x := g.At().Placeholder("x", shape.Unranked(array.F32), nil)
	g.At().Output(nil, g.At().Module("fc", x))
	_, err := fx.NewGraphModule(graph.NewModule(g)).Run(ctx, weight(1))
	return err
}`,
	},
	{
		//gofx:code interp.Undefined
		Code: "FX1025", Title: "an operand has no value",
		Cause: "A node uses a tuple where a tensor is needed, or a member that its tuple does not have.",
		Cure:  "Take the member with getitem.",
		Example: `func undefined() error {
	g := graph.New("net")
	x := g.At().Placeholder("x", shape.Unranked(array.F32), nil)
	parts := g.At().Function(std.Split, tensor.SplitAttrs{Sizes: shape.ConstDims(1, 1)}, x)
	g.At().Output(nil, parts) // a tuple is not a tensor
	_, err := fx.NewGraphModule(graph.NewModule(g)).Run(ctx, weight(2))
	return err
}`,
	},
	{
		Code: "FX1026", Title: "the context has ended",
		Cause: "The context of a capture, pass or run was cancelled or its deadline passed, perhaps in a loop that does not end; errors.Is finds context.Canceled or context.DeadlineExceeded in the error.",
		Cure:  "Run again with a context that lasts; if a loop is to blame, look at its condition.",
		Example: `func stopped() error {
	gm, err := fx.Trace(ctx, negate)
	if err == nil {
		soon, cancel := context.WithCancel(ctx)
		cancel()
		_, err = gm.Run(soon, weight(1))
	}
	return err
}`,
	},
	{
		//gofx:code nn.NotRunnable
		Code: "FX1030", Title: "a value cannot be run as a module",
		Cause: "nn.Run is called on a value without a Forward method, or with inputs that its Forward does not take, or Forward returns something else than tensors.",
		Cure:  "Pass a pointer to the module and as many tensors as Forward has parameters, nil for absent optional ones.",
		Example: `func notRunnable() error {
	_, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return nn.Run(nn.NewReLU(), x, x) })
	return err
}`,
	},
	{
		//gofx:code tracer.UnknownDType
		Code: "FX1040", Title: "the model needs an element type that is not known",
		Cause: "The input was traced without a type; values that depend on its element type would be fixed for all runs.",
		Cure:  "Give the input a type, such as fx.Input(\"mask\", \"bool[N,S]\").",
		Example: `func dtypeUnknown(x *tensor.Tensor) *tensor.Tensor {
	if x.DType() == array.Bool {
		return x.LogicalNot()
	}
	return x
}`,
	},
	{
		//gofx:code tensor.NoName
		Code: "FX1041", Title: "state without a name",
		Cause: "Tensors or modules are in a map whose keys are neither strings nor integers, so that no state dict can name them.",
		Cure:  "Use strings or integers as keys, or leave the field out of the state by the tag `fx:\"-\"`.",
		Example: `func (m *unnamed) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Add(m.Tiles[point{}])
}`,
	},
	{
		//gofx:code tensor.SameName
		Code: "FX1042", Title: "two tensors with one name",
		Cause: "Two fields give different tensors the same name in a state dict: W and w are both w.",
		Cure:  "Rename a field, or name it by a tag: `fx:\"other\"`.",
		Example: `func (m *namesakes) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.Mul(m.W).Add(m.w)
}`,
	},
	{
		//gofx:code tracer.Replaced
		Code: "FX1043", Title: "the model puts another tensor into a field",
		Cause: "While it was traced, the model stored a tensor in one of its fields, replaced one or took one out. Its next call would see that; a run of the graph changes no fields.",
		Cure:  "Return the tensor as a result and take it as an input, or write it to a buffer with AssignInPlace.",
		Example: `func (m *remembers) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := x.MulScalar(0.9)
	if m.last != nil && m.last.Engine() == x.Engine() {
		y = y.Add(m.last)
	}
	m.last = y.Relu()
	return y
}`,
	},
	{
		//gofx:code tracer.Unsteady
		Code: "FX1044", Title: "two traces of a function differ",
		Cause: "The function is not the same at each call: it ranges over a map, draws random numbers, or reads a clock, a counter or something else that changes. A graph would be one call of many.",
		Cure:  "Range over the sorted keys: slices.Sorted(maps.Keys(m)). Take random numbers and times as inputs, keep counters in buffers.",
		Example: `func (m *unsorted) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, s := range m.Scales {
		x = x.Mul(s)
	}
	return x
}`,
	},
	{
		//gofx:code lazy.Closed
		Code: "FX1050", Title: "a session is used after Close",
		Cause: "A tensor of a lazy session takes part in a call, or its data is read, after the session was closed. What Close has computed can still be read.",
		Cure:  "Close the session when nothing needs it any more, or make a new one: s.In takes tensors that were computed.",
		Example: `func afterClose() {
	s := lazy.New(lazy.Options{})
	x := s.In(tensor.Ones(2))
	s.Close()
	x.Relu()
}`,
	},
	{
		//gofx:code lazy.Forbidden
		Code: "FX1051", Title: "data is read where nothing may be computed",
		Cause: "A function that Session.NoFlush runs asks for data: by Item, Data, a print, a comparison, or a call whose result has sizes that elements say.",
		Cure:  "Read the data after the function has returned, or keep the decision in tensors (Where).",
		Example: `func readsInside(s *lazy.Session) error {
	x := s.In(tensor.Ones(2))
	return s.NoFlush(func() { x.Sum().Item() })
}`,
	},
	{
		//gofx:code lazy.BadOption
		Code: "FX1052", Title: "an option of a session is out of range",
		Cause: "A limit of lazy.Options is negative, or a policy is none that the option has.",
		Cure:  "Leave it out for its default.",
		Example: `func negative() {
	lazy.New(lazy.Options{MaxTrace: -1})
}`,
	},
	{
		//gofx:code lazy.Donated
		Code: "FX1056", Title: "a value was let go when its model was updated in place",
		Cause: "With Options.Donate, a barrier that is equal to the two before it updates parameters in their memory. A value on the way, which nobody had read in the steps before, would have to be computed again from the old parameters.",
		Cure:  "Read the value before the barrier, call s.Keep for its tensor there, or compute it again from the new parameters.",
		Example: `func readsLate(s *lazy.Session, w *tensor.Tensor) {
	for i := range 4 {
		y := s.In(tensor.Ones(2)).Mul(w)
		w.SubInPlace(y.MulScalar(0.5))
		s.Barrier()
		s.Wait()
		if i == 3 {
			y.Sum().Item()
		}
	}
}`,
	},
	{
		//gofx:code lazy.Past
		Code: "FX1055", Title: "a gradient goes through a value of a session whose past is not known",
		Cause: "The loss depends on a value that may depend on what is differentiated by, and the session does not know how: a barrier came since, the program was given its memory, a Go function computed it, or its sizes follow from elements.",
		Cure:  "Compute the loss and its gradient between two barriers from tensor calls, read values by Item, and use Detach where a value counts as constant.",
		Example: `func throughBarrier(s *lazy.Session, w *tensor.Tensor) {
	y := s.In(tensor.Ones(2)).Mul(w)
	s.Barrier()
	tensor.Grad(y.Mul(w).Sum(), w)
}`,
	},
}
