package diag

// weightCodes explains the codes FX806x and FX807x: files with weights of several
// formats.
var weightCodes = []Info{
	{
		//gofx:code array/npy.CodeArchive
		Code: "FX8060", Title: ".npz archive cannot be read",
		Cause:   "the file is not a zip archive, is cut off or damaged, has a member that is not an array, or unpacks to far more than its size",
		Cure:    "save the arrays again with numpy.savez, copy the file again, or save a very large array without compression",
		Example: `an archive with a member notes.txt`,
	},
	{
		//gofx:code array/npy.CodeName
		Code: "FX8061", Title: "array is not in the archive",
		Cause:   "the .npz file does not have the requested array",
		Cure:    "ask for a name that fxgen stats FILE.npz lists",
		Example: `an archive with an array a, of which b is read`,
	},
	{
		//gofx:code array/gguf.CodeSyntax
		Code: "FX8063", Title: "GGUF file is malformed",
		Cause:   "the file is cut off, of version 1, big-endian or not a GGUF file, a name occurs twice, or shapes, types and places of tensors do not agree",
		Cure:    "download the file again, or convert the model again with a current program",
		Example: `the bytes GGUF and version 1`,
	},
	{
		//gofx:code array/gguf.CodeType
		Code: "FX8064", Title: "GGUF type is not read",
		Cause:   "a tensor is read whose blocks are of a type that gofx does not know; the other tensors of the file can be read",
		Cure:    "convert the model to one of the types that the message lists",
		Example: `a tensor of type 16, IQ2_XXS`,
	},
	{
		//gofx:code array/gguf.CodeName
		Code: "FX8065", Title: "tensor is not in the GGUF file",
		Cause:   "a tensor was asked for that the file lacks",
		Cure:    "ask for a name that fxgen stats FILE.gguf lists",
		Example: `a file without tensors, of which w is read`,
	},
	{
		//gofx:code array/torchpt.CodeFormat
		Code: "FX8067", Title: "file was not written by torch.save",
		Cause:   "the file is a tar archive of the first versions of PyTorch, a TorchScript archive, cut off, damaged, or not a file of PyTorch",
		Cure:    "save the state dict of the model again with torch.save(model.state_dict(), f)",
		Example: `an archive with a member m/code/a.py`,
	},
	{
		//gofx:code array/torchpt.CodeSyntax
		Code: "FX8068", Title: "pickle is malformed",
		Cause:   "the file was damaged or made by hand: its pickle has opcodes or arguments that torch.save does not write, or makes too much",
		Cure:    "save the state dict again with torch.save",
		Example: `a pickle of the byte R`,
	},
	{
		//gofx:code array/torchpt.CodeObject
		Code: "FX8069", Title: "object of Python is not read",
		Cause:   "the file holds more than tensors, numbers, texts, lists, tuples and dictionaries: a whole module, classes of the program that saved it, sparse or quantised tensors; reading these would run code that the file chooses",
		Cure:    "save the tensors alone, in Python that trusts the file: torch.save(model.state_dict(), f)",
		Example: `a pickle that calls posix.system`,
	},
	{
		//gofx:code array/torchpt.CodeTensor
		Code: "FX8070", Title: "PyTorch tensor cannot be read",
		Cause:   "a tensor lies outside of its storage, its storage is missing, its name occurs twice, or arrays have no such element type",
		Cure:    "save the file again, or convert the tensor before: tensor.to(torch.float32)",
		Example: `a tensor of 3 elements over a storage of 2`,
	},
	{
		//gofx:code array/torchpt.CodeName
		Code: "FX8071", Title: "tensor is not in the PyTorch file",
		Cause:   "a tensor was asked for that the file lacks",
		Cure:    "ask for a name that fxgen stats FILE.pt lists",
		Example: `a file without tensors, of which w is read`,
	},
	{
		//gofx:code array/weights.CodeFormat
		Code: "FX8073", Title: "weights are of an unknown format",
		Cause:   "the contents are not safetensors, an index of shards, .npy, .npz, GGUF or a file of torch.save, or they are one part of a GGUF model",
		Cure:    "convert the weights to safetensors, or merge the parts",
		Example: `a file of the text hello, world`,
	},
	{
		//gofx:code array/weights.CodeIndex
		Code: "FX8074", Title: "index of shards is malformed",
		Cause:   "the index is not a JSON object with a weight_map, names a file outside of its folder or one that cannot be read, or does not agree with its files",
		Cure:    "copy the index and all of its files into one folder, as files and not as links",
		Example: `an index {"weight_map":{"w":"../x.safetensors"}}`,
	},
	{
		//gofx:code array/weights.CodeName
		Code: "FX8075", Title: "tensor is not in the file",
		Cause:   "the file does not have the requested tensor or part FILE#NAME of a checkpoint",
		Cure:    "ask for a name that fxgen stats FILE lists",
		Example: `weights.Open("state.pth#model") for a file of fc.weight`,
	},
	{
		//gofx:code internal/userpkg.NoPackage
		Code: "FX8076", Title: "package cannot be found",
		Cause:   "the text before # is not the folder of a package, belongs to no module, or has no Go files for this system and these build tags",
		Cure:    "name the folder of a package of your module, as in ./net#Net, and give its build tags in GOFLAGS",
		Example: `fxgen print ./no_such_folder#Net`,
	},
	{
		//gofx:code cmd/fxgen/internal/work.NoSymbol internal/effects.NoFunction
		Code: "FX8077", Title: "package has no such function or type",
		Cause:   "the text after # is not a function or type of the package, or not a method of the type",
		Cure:    "write the name as the package has it; only functions and types are captured, not the values of variables",
		Example: `fxgen print ./kinds#Nothing`,
	},
	{
		//gofx:code cmd/fxgen/internal/work.BadSignature cmd/fxgen/internal/tables.Uncallable
		Code: "FX8078", Title: "function cannot be captured",
		Cause:   "the function takes or returns no tensors, has type parameters, is a method that is not exported or belongs to an interface, or generated code cannot name it or its types",
		Cure:    "name a function that takes and returns *tensor.Tensor, or write one that calls this one",
		Example: `fxgen print ./kinds#Number`,
	},
	{
		//gofx:code cmd/fxgen/internal/work.BadConstructor
		Code: "FX8079", Title: "module cannot be made",
		Cause:   "no constructor is known for the type, or the one of -new is not an expression of that type, fails, or returns nil",
		Cure:    "give a function without arguments that returns the module, or an expression, with -new",
		Example: `fxgen print -new f( ./kinds#Net`,
	},
	{
		//gofx:code cmd/fxgen/internal/work.BadPass
		Code: "FX8080", Title: "the user's pass cannot be linked",
		Cause:   "an entry ./pkg#Var of -passes does not name an exported variable of type passes.Pass",
		Cure:    "declare it as var Var = passes.Rule(...), and name it as the package has it",
		Example: `fxgen print -passes ./kinds#Nothing ./kinds#Net`,
	},
	{
		//gofx:code array/weights.CodeRule
		Code: "FX8081", Title: "rule renames nothing",
		Cause:   "a rule FROM=TO for names of weights is malformed, fits no name, or gives two tensors one name",
		Cure:    "write FROM=TO with as many * on both sides, for names that fxgen stats FILE lists",
		Example: `weights.Rename(file, "norm*=bn")`,
	},
	{
		//gofx:code cmd/fxgen/internal/cli.codeUnfixed
		Code: "FX8084", Title: "call has to be rewritten by hand",
		Cause:   "fxgen fix found a call of a tensor in the form of an earlier version, and its file does not show what the new form needs: the options are in a variable, are spread or have no field names, or a comment stands between them",
		Cure:    "write the call in the form that the message shows; where options come from a variable, pass its lists as arguments",
		Example: `fxgen fix unfixed.go`,
	},
	{
		//gofx:code internal/userpkg.Unbuilt
		Code: "FX8085", Title: "program cannot be built",
		Cause:   "the go command or the linker stopped, and names no mistake in the code: the disk is full, memory is short, a flag in GOFLAGS is unknown, or the C compiler fails",
		Cure:    "read what it printed, which the message repeats, and mend that: make space, correct GOFLAGS, or set CGO_ENABLED=0",
		Example: `GOFLAGS=-ldflags=-no_such_flag fxgen print ./kinds#Net`,
	},
	{
		//gofx:code cmd/fxgen/internal/cli.codeStale
		Code: "FX8090", Title: "generated file is stale",
		Cause:   "fxgen check or diff found a file that is missing, or that differs from what gen would write from the present source",
		Cure:    "run fxgen gen with the same flags, and commit what it writes",
		Example: `fxgen check -o ./empty mlp`,
	},
}
