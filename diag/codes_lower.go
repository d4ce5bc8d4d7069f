package diag

// lowerCodes explains the codes FX5xxx: lowering to a target.
var lowerCodes = []Info{
	{
		//gofx:code lowering.Unsupported
		Code: "FX5001", Title: "operator cannot run on the target",
		Cause: "a node calls an operator for which the target has no rule, no kernel and no decomposition: an opaque Go function that is not linked in, or one of another target",
		Cure:  "give the target a rule for the operator, link the function, or let another target run the node (lowering.Split)",
		Example: `f := op.NewAdHoc("example.com/net", "f", op.Args("x"), false, false, nil)
m.Graph.Before(m.Graph.Output()).Function(f, nil, m.Graph.First())
_, err := cpu.Compile(m, lowering.Options{})
return err`,
	},
	{
		//gofx:code lowering.NoRegions
		Code: "FX5002", Title: "control flow cannot run on the target",
		Cause: "the target runs no control flow, or a region of cond, while or scan is lowered for other values than it takes or returns",
		Cure:  "interpret the graph, or unroll the loop while capturing; a target prepares a region for the types of its operands",
		Example: `_, err := lowering.PrepareRegion(m, m.Graph, nil)
return err`,
	},
	{
		//gofx:code lowering.SymbolUse
		Code: "FX5003", Title: "kernel depends on symbolic sizes in a hidden way",
		Cause: "a value inside the kernel follows from sizes that are not known yet, and is not declared as a size",
		Cure:  "pin the symbols in Options.Shapes, or capture the graph with fixed sizes; in your own operator declare fields that are sizes with op.WithSizes",
		Example: `spec := op.Spec[op.None]{Doc: "half_roll rolls by half of a size.", In: op.Args("x")}
spec.Infer = func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil }
spec.Kernel = func(_ op.None, in []shape.Type) kernel.Step {
	n, _ := in[0].Dim(0).Int()
	return &kernel.Roll{Shifts: []int{n / 2}, Dims: []int{0}}
}
out := m.Graph.Output()
out.SetArg(0, m.Graph.Before(out).Function(op.Define("half_roll", spec), nil, out.Args()[0]))
_, err := cpu.Compile(m, lowering.Options{})
return err`,
	},
	{
		//gofx:code lowering.UnknownSize
		Code: "FX5004", Title: "type or size is not known before the run",
		Cause: "a value has an unknown rank, element type or size, or a size that depends on data, so that no memory can be planned for it",
		Cure:  "capture the graph with the types of its inputs, declare the results of opaque functions (a type rule of tensor.Wrap, a TypeRule method of a leaf module), or pin symbols",
		Example: `m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[*]) {\n return %x\n}\n"), "g.fx")
if err != nil {
	return err
}
_, err = cpu.Compile(m, lowering.Options{})
return err`,
	},
	{
		//gofx:code lowering.BadOption
		Code: "FX5005", Title: "options do not fit the graph",
		Cause: "a pinned symbol, output or donated input is not in the graph, or pinned sizes contradict a guard of the graph",
		Cure:  "the message names the symbols and counts that the graph has",
		Example: `_, err := cpu.Compile(m, lowering.Options{Shapes: map[string]int{"batch": 8}})
return err`,
	},
	{
		//gofx:code lowering.Closed
		Code: "FX5006", Title: "executable is closed",
		Cause: "Run was called after Close",
		Cure:  "close an executable after its last run, or compile the module again",
		Example: `e, err := cpu.Compile(m, lowering.Options{})
if err != nil {
	return err
}
e.Close()
_, err = e.Run(context.Background(), []*array.Array{array.New(array.F32, 1, 8)})
return err`,
	},
	{
		//gofx:code lowering.BadOutput
		Code: "FX5007", Title: "memory for a result does not fit it",
		Cause: "an array given to RunInto has another type or shape than the result, has gaps, or shares memory with an input or another result; an input in which a result is made (Options.Into) has gaps, is not given, or shares memory with another input or a weight; or a target of a split gave fewer, more or other results than its part has",
		Cure:  "allocate the arrays with the shapes that the message gives, or take the results of Run; in your own target give each result the type of the graph",
		Example: `e, err := cpu.Compile(m, lowering.Options{})
if err != nil {
	return err
}
out := []*array.Array{array.New(array.F32, 2, 4)}
return e.RunInto(context.Background(), out, []*array.Array{array.New(array.F32, 1, 8)})`,
	},
	{
		//gofx:code lowering.HostFailed
		Code: "FX5008", Title: "opaque Go function failed",
		Cause: "a function that the graph calls returned an error, or values of other types than were declared for it",
		Cure:  "see the cause; declare the types that the function returns",
		Example: `f := op.NewAdHoc("example.com/net", "f", op.Args("x"), false, false, func([]*array.Array) ([]*array.Array, error) {
	return nil, errors.New("no connection")
})
v := m.Graph.Before(m.Graph.Output()).Function(f, nil, m.Graph.First())
v.SetType(m.Graph.First().Type())
e, err := cpu.Compile(m, lowering.Options{})
if err != nil {
	return err
}
_, err = e.Run(context.Background(), []*array.Array{array.New(array.F32, 1, 8)})
return err`,
	},
	{
		//gofx:code lowering.NotBuffer
		Code: "FX5009", Title: "assign that cannot be lowered",
		Cause: "an assign node writes to the result of another one instead of a tensor that a get_attr node reads, or a value of another type",
		Cure:  "assign to a tensor that get_attr reads, with a value of its type",
		Example: `x := m.Graph.First()
m.SetParam(graph.Param{Path: "b", Type: x.Type(), Buffer: true})
at := m.Graph.Before(m.Graph.Output())
first := at.Function(op.Assign, nil, at.GetAttr("b"), x)
at.Function(op.Assign, nil, first, x)
_, err := cpu.Compile(m, lowering.Options{})
return err`,
	},
	{
		//gofx:code lowering/cost.BadDevice
		Code: "FX5030", Title: "description of a device is inconsistent",
		Cause: "the JSON text has another form than that of a device, or a rate, a size or a level of memory is missing or contradicts another",
		Cure:  "the message names the field; docs/cost.md has an example, and fxgen devices -calibrate writes one for this machine",
		Example: `_, err := cost.ReadDevice(strings.NewReader("{\"name\": \"pocket calculator\", \"threads\": 0}"), "calculator.json")
return err`,
	},
	{
		//gofx:code lowering/cost.BadLoad
		Code: "FX5031", Title: "no fleet of such machines serves the load",
		Cause: "one run takes longer than a request may, does not fit into the memory of a machine, or the load is not a number of requests",
		Cure:  "describe a faster or larger machine, give a run more threads, run smaller batches, or allow more time",
		Example: `d := &cost.Device{Name: "desk", Threads: 1, Cores: 4, Float: 1e9, Memory: []cost.Level{{Rate: 1e9}}}
e, err := d.Estimate(&cost.Work{Steps: []cost.Step{{Kind: "ConvPacked", Times: 1, Flops: 2e9}}})
if err != nil {
	return err
}
_, err = e.Fleet(cost.Load{Rate: 10, Latency: time.Second})
return err`,
	},
}
