package diag

// codegenCodes explains the codes FX4xxx: Go source from graphs and plans.
var codegenCodes = []Info{
	{
		//gofx:code codegen/module.OpaqueFunc codegen.OpaqueFunc
		Code: "FX4001", Title: "opaque function cannot be named",
		Cause: "a wrapped Go function is unexported, or its package cannot be imported by the generated one",
		Cure:  "export the function from a package that can be imported, or generate into its own package",
		Example: `f := op.NewAdHoc("example.com/net", "unexported", op.Args("x"), false, false, nil)
m.Graph.Before(m.Graph.Output()).Function(f, nil, m.Graph.First())
_, err := codegen.Module(m, codegen.ModuleOptions{})
return err`,
	},
	{
		//gofx:code codegen/module.ForeignOp codegen.ForeignOp
		Code: "FX4002", Title: "operator cannot be named",
		Cause: "the variable that holds the operator's record is in a package that the generated one cannot import, or the operator has regions but is not cond, while or scan",
		Cure:  "define the operator in a package that can be imported, as a variable with the operator's name, or generate into its own package",
		Example: `m.Graph.Before(m.Graph.Output()).Function(private, nil, m.Graph.First())
_, err := codegen.Module(m, codegen.ModuleOptions{})
return err`,
	},
	{
		//gofx:code codegen/module.OpaqueModule codegen.OpaqueModule
		Code: "FX4003", Title: "opaque module without its Go value",
		Cause: "the graph calls a module that is known only as Go code, and the generated code has its own state instead of the Go module",
		Cure:  "give the Go module to the code generator, or capture the module without making it a leaf",
		Example: `f := op.NewAdHoc("example.com/net", "Gate.Forward", op.Args("x"), false, false, nil)
m.SetBound("gate", graph.Bound{Op: f, Attrs: op.None{}})
m.Graph.Before(m.Graph.Output()).Module("gate", m.Graph.First())
_, err := codegen.Module(m, codegen.ModuleOptions{})
return err`,
	},
	{
		//gofx:code codegen/module.WholeTuple codegen.WholeTuple
		Code: "FX4004", Title: "several results used as one value",
		Cause: "a value with several results is itself an operand or a result, and Go has no expression for that",
		Cure:  "take the results apart with getitem",
		Example: `top := m.Graph.Before(m.Graph.Output()).Function(std.Topk, std.TopkAttrs{K: 1}, m.Graph.First())
m.Graph.Output().SetArg(0, top)
_, err := codegen.Module(m, codegen.ModuleOptions{})
return err`,
	},
	{
		//gofx:code codegen/module.BadAssign codegen.BadAssign
		Code: "FX4005", Title: "write to a tensor that is not state",
		Cause: "the first operand of an assign node is not a tensor that a get_attr node reads",
		Cure:  "assign to a buffer of the model",
		Example: `x := m.Graph.First()
m.Graph.Before(m.Graph.Output()).Function(op.Assign, nil, x, x)
_, err := codegen.Module(m, codegen.ModuleOptions{})
return err`,
	},
	{
		//gofx:code codegen/module.LostSize codegen.LostSize
		Code: "FX4006", Title: "size without a Go expression",
		Cause: "an attribute holds an unknown size, or a symbol that no value before it defines",
		Cure:  "give the inputs types when capturing, so that the sizes have names",
		Example: `attrs := std.ReshapeAttrs{Shape: shape.Of(shape.Sym("M"), shape.Const(4))}
m.Graph.Before(m.Graph.Output()).Function(std.Reshape, attrs, m.Graph.First())
_, err := codegen.Module(m, codegen.ModuleOptions{})
return err`,
	},
	{
		//gofx:code codegen/module.StateType codegen.StateType
		Code: "FX4007", Title: "state without a known type",
		Cause: "a tensor that the graph reads is not declared, or has neither a value nor a type with known sizes",
		Cure:  "declare the tensor with its type, or give it a value",
		Example: `m.SetParam(graph.Param{Path: "w"})
at := m.Graph.Before(m.Graph.Output())
at.Function(std.Neg, nil, at.GetAttr("w"))
_, err := codegen.Module(m, codegen.ModuleOptions{})
return err`,
	},
	{
		//gofx:code codegen/module.StatePath codegen.StatePath
		Code: "FX4008", Title: "path does not fit into a struct tag",
		Cause: "the path of a tensor has a comma, a quote, a backslash or a control character, or is empty, - or a dot",
		Cure:  "rename the tensor",
		Example: `m.SetParam(graph.Param{Path: "w,buffer", Value: array.New(array.F32, 4)})
at := m.Graph.Before(m.Graph.Output())
at.Function(std.Neg, nil, at.GetAttr("w,buffer"))
_, err := codegen.Module(m, codegen.ModuleOptions{})
return err`,
	},
	{
		//gofx:code codegen/kernelstyle.CodeHost codegen.CodeHost
		Code: "FX4020", Title: "opaque function in kernel style",
		Cause: "a step calls a wrapped Go function that gives values, or a kernel that generated code cannot write down: of an unexported type, with hidden fields, or whose Run has a pointer receiver",
		Cure:  "express the function with operators, give its operator a Kernel of an exported plain struct or a Decompose, let one that logs return nothing, or generate module style",
		Example: `p.Steps[0].Kernel = &opaque{}
_, err := codegen.Kernel(p, w, codegen.KernelOptions{})
return err`,
	},
	{
		//gofx:code codegen/kernelstyle.CodeWeight codegen.CodeWeight
		Code: "FX4023", Title: "weight without data for generated code",
		Cause: "a weight of the plan has no array, or one of another type than it was planned with",
		Cure:  "load the weights before the model is planned",
		Example: `_, err := codegen.Kernel(p, nil, codegen.KernelOptions{})
return err`,
	},
	{
		//gofx:code codegen/gosrc.CodeOptions codegen/kernelstyle.CodeOptions codegen.CodeOptions
		Code: "FX4024", Title: "bad option of code generation",
		Cause: "Go does not allow a package, type or file name, or the weights mode is unknown",
		Cure:  "give a Go identifier (exported for the type), a file name without a folder, and auto, embed, external or literal",
		Example: `_, err := codegen.Kernel(p, w, codegen.KernelOptions{Package: "a b"})
return err`,
	},
	{
		//gofx:code codegen/kernelstyle.CodeSize codegen.CodeSize
		Code: "FX4025", Title: "size unknown to generated code",
		Cause: "a size of a value or kernel does not follow from the sizes of the inputs",
		Cure:  "pin the size when the model is planned",
		Example: `p.Buffers[0].Type = shape.Unranked(array.F32)
_, err := codegen.Kernel(p, w, codegen.KernelOptions{})
return err`,
	},
	{
		//gofx:code codegen/kernelstyle.CodeResults codegen.CodeResults
		Code: "FX4026", Title: "plan without results",
		Cause: "the graph returns nothing, so a package that calls kernels would compute nothing",
		Cure:  "return a value of the graph, or generate module style for a model that only writes its state",
		Example: `p.Outputs = nil
_, err := codegen.Kernel(p, w, codegen.KernelOptions{})
return err`,
	},
}
