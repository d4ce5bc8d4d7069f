package diag

// pt2Codes explains the codes FX82xx: programs of PyTorch's torch.export. Examples name what the
// archive has.
var pt2Codes = []Info{
	{
		//gofx:code pt2.CodeRead
		Code: "FX8201", Title: "file of torch.export cannot be read",
		Cause:   "the file does not exist, or the operating system refuses to read it",
		Cure:    "check the path and its permissions",
		Example: `pt2.Read("no/such/file.pt2")`,
	},
	{
		//gofx:code pt2.CodeFormat
		Code: "FX8202", Title: "file of torch.export is malformed",
		Cause:   "the file is not an archive of torch.export.save, was cut off, has several programs or none, or JSON that is not PyTorch's",
		Cure:    "write it again: torch.export.save(torch.export.export(model, args), \"net.pt2\")",
		Example: `a file that begins with 01 02 03`,
	},
	{
		//gofx:code pt2.CodeProgram
		Code: "FX8203", Title: "program of torch.export contradicts itself",
		Cause:   "a name is used that no node computes before, two values have one name, an argument is missing or impossible, or gofx computes another type than the file says",
		Cure:    "export the program again; something that edited it may have broken it",
		Example: `a node relu whose operand no node computes`,
	},
	{
		//gofx:code pt2.CodeOperator
		Code: "FX8204", Title: "operator of PyTorch is not supported",
		Cause:   "the program has an operator that gofx does not have, or uses a result of one that inference does not need",
		Cure:    "export after run_decompositions(), which writes many operators as core ATen's, or export the model without it",
		Example: `a node torch.ops.aten.frobnicate.default`,
	},
	{
		//gofx:code pt2.CodeArgument
		Code: "FX8205", Title: "argument of an operator of PyTorch is not supported",
		Cause:   "the operator is supported, but not with this argument or this value of it; operators of training are among them",
		Cure:    "export model.eval(), without what the message names",
		Example: `a node relu with an argument slope`,
	},
	{
		//gofx:code pt2.CodeValue
		Code: "FX8206", Title: "number that a program of torch.export needs is not known",
		Cause:   "an attribute, a count or a bound is computed from the value of an input, or from sizes that are not numbers",
		Cure:    "give the sizes of inputs when importing, or export the program for sizes that are numbers",
		Example: `a node topk whose k is a size of an input`,
	},
	{
		//gofx:code pt2.CodeType
		Code: "FX8207", Title: "element type of PyTorch is not supported",
		Cause:   "a value is complex, quantised or sparse, where arrays of numbers are expected",
		Cure:    "export the model with real floats, integers and bools",
		Example: `an input of element type complex64`,
	},
	{
		//gofx:code pt2.CodeGuard
		Code: "FX8208", Title: "relation of sizes of a program of torch.export cannot be checked",
		Cause:   "the program requires a relation that gofx's sizes cannot express, or that no sizes satisfy",
		Cure:    "export the program with sizes that are numbers, or with fewer relations between them",
		Example: `a guard that compares the type of an input`,
	},
	{
		//gofx:code pt2.CodeInput
		Code: "FX8209", Title: "given type does not fit a program of torch.export",
		Cause:   "a type is given for no input, with another element type or number of dimensions, or with sizes that the program was not exported for",
		Cure:    "give sizes that the program leaves open, or export it for others",
		Example: `f32[3,3] for an input of which the file says f32[s0,4]`,
	},
	{
		//gofx:code pt2.CodeWrite
		Code: "FX8210", Title: "program of torch.export has an untraceable write",
		Cause:   "an operator in place writes through a view without an inverse, or to memory that another tensor may share, or a branch writes to its operand",
		Cure:    "export after run_decompositions(), which removes in-place writes",
		Example: `a node add_ on the result of expand`,
	},
}
