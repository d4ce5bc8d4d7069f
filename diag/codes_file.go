package diag

// fileCodes explains the codes FX8xxx: files and weights.
var fileCodes = []Info{
	{
		//gofx:code array/safetensors.CodeSize
		Code: "FX8001", Title: "safetensors file is too short",
		Cause:   "the first eight bytes give the length of the header, and the file has fewer bytes, or the length is above 100000000",
		Cure:    "copy or download the file again: it is cut off or not a safetensors file",
		Example: `8-byte length 9, header {}, data of 0 bytes`,
	},
	{
		//gofx:code array/safetensors.CodeSyntax
		Code: "FX8002", Title: "safetensors header is malformed",
		Cause:   "the header is not a JSON object of tensors with dtype, shape and data_offsets",
		Cure:    "write the file again with a program that keeps to the format",
		Example: `8-byte length 7, header {"a":1}, data of 0 bytes`,
	},
	{
		//gofx:code array/safetensors.CodeDType
		Code: "FX8003", Title: "safetensors element type is unknown",
		Cause:   "a tensor is read whose dtype arrays do not have; the other tensors of the file can be read",
		Cure:    "convert the tensor to another type, F32 for instance, or leave it out",
		Example: `8-byte length 58, header {"a":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}, data of 3 bytes`,
	},
	{
		//gofx:code array/safetensors.CodeLength
		Code: "FX8004", Title: "safetensors shape and data disagree",
		Cause:   "the product of shape and element size is not the length that data_offsets give",
		Cure:    "write the file again, the header does not belong to the data",
		Example: `8-byte length 54, header {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}, data of 4 bytes`,
	},
	{
		//gofx:code array/safetensors.CodeRange
		Code: "FX8005", Title: "safetensors data lies outside the file",
		Cause:   "data_offsets are reversed or end after the last byte",
		Cure:    "copy or download the file again, it is cut off",
		Example: `8-byte length 54, header {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}, data of 3 bytes`,
	},
	{
		//gofx:code array/safetensors.CodeOverlap
		Code: "FX8006", Title: "safetensors tensors overlap or leave gaps",
		Cause:   "the format demands that the tensors cover the data exactly",
		Cure:    "write the file again with a program that keeps to the format",
		Example: `8-byte length 53, header {"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}, data of 2 bytes`,
	},
	{
		//gofx:code array/safetensors.CodeName
		Code: "FX8007", Title: "safetensors name occurs twice or is missing",
		Cause:   "two tensors, or two keys of one object, have the same name; or a requested tensor is not in the file",
		Cure:    "rename one of them, or ask for a name that the file has",
		Example: `8-byte length 37, header {"__metadata__":{},"__metadata__":{}}, data of 0 bytes`,
	},
	{
		//gofx:code array/safetensors.CodeWrite
		Code: "FX8008", Title: "tensors cannot be written as safetensors",
		Cause:   "a name repeats, is reserved or is not UTF-8, or a tensor has no data or no element type",
		Cure:    "give each tensor its own name, and data",
		Example: `safetensors.Write(w, []safetensors.Named{{"a", x}, {"a", x}}, nil)`,
	},
	{
		//gofx:code array/safetensors.CodeRead array/gguf.CodeRead array/torchpt.CodeRead array/weights.CodeRead
		Code: "FX8009", Title: "weights cannot be read",
		Cause:   "the operating system reports an error, or the file became shorter while it was read",
		Cure:    "check that the path is a file that can be read",
		Example: `safetensors.ReadFile("no/such/file.safetensors")`,
	},
	{
		//gofx:code array/npy.CodeMagic
		Code: "FX8010", Title: "file is not a .npy file",
		Cause:   "it does not begin with the magic bytes, or has a version other than 1, 2 and 3",
		Cure:    "save the array with numpy.save",
		Example: `version 4, header {'descr': '|u1', 'fortran_order': False, 'shape': (1,)}, data of 1 bytes`,
	},
	{
		//gofx:code array/npy.CodeHeader
		Code: "FX8011", Title: ".npy header is malformed",
		Cause:   "the header is not a dictionary of descr, fortran_order and shape, or is longer than 65536 bytes, or bytes follow the array",
		Cure:    "save the array again with numpy.save",
		Example: `version 1, header {'descr': '|u1'}, data of 1 bytes`,
	},
	{
		//gofx:code array/npy.CodeDType
		Code: "FX8012", Title: ".npy element type is unknown",
		Cause:   "descr is complex, a structure, text, or Python objects",
		Cure:    "convert the array with astype before it is saved",
		Example: `version 1, header {'descr': '<c8', 'fortran_order': False, 'shape': (1,)}, data of 8 bytes`,
	},
	{
		//gofx:code array/npy.CodeLimit
		Code: "FX8013", Title: ".npy array is too large",
		Cause:   "the shape asks for more bytes than the file or the caller allows",
		Cure:    "check the shape in the header, or allow more",
		Example: `version 1, header {'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296)}, data of 0 bytes`,
	},
	{
		//gofx:code array/npy.CodeRead
		Code: "FX8014", Title: ".npy file cannot be read",
		Cause:   "it ends early, or the operating system reports an error",
		Cure:    "copy the file again, it is cut off",
		Example: `version 1, header {'descr': '|u1', 'fortran_order': False, 'shape': (2,)}, data of 1 bytes`,
	},
	{
		//gofx:code array/npy.CodeWrite
		Code: "FX8015", Title: "array cannot be written as .npy",
		Cause:   "NumPy lacks the element type (bf16), or the array has more than 64 dimensions",
		Cure:    "convert the array first, to f32 for instance",
		Example: `npy.Write(w, array.New(array.BF16, 1))`,
	},
	{
		//gofx:code array/safetensors.CodeChecksum
		Code: "FX8016", Title: "weights are damaged",
		Cause:   "the bytes of a tensor have changed since they were written: their checksum differs from the one in the file's metadata",
		Cure:    "copy or write the file again",
		Example: `a file whose metadata has "crc32c.a":"00000000" for a tensor a with other data`,
	},
	{
		//gofx:code array.CodeMissing kernel.CodeWeights graph.WeightMissing
		Code: "FX8020", Title: "parameter without a value",
		Cause:   "a saved graph declares a parameter that the weights lack, or a module is saved before its weights are loaded",
		Cure:    "load the weights that belong to the graph",
		Example: `graph.fx declares fc.weight, weights.safetensors has no tensor of that name`,
	},
	{
		//gofx:code array/safetensors.CodeUnexpected graph.WeightUnexpected
		Code: "FX8021", Title: "tensor that is not declared",
		Cause:   "the weights have a tensor that the graph does not know",
		Cure:    "use the weights that were saved with the graph",
		Example: `weights.safetensors has a tensor extra, graph.fx has no line param extra`,
	},
	{
		//gofx:code array.CodeMismatch graph.WeightMismatch
		Code: "FX8022", Title: "tensor of another type",
		Cause:   "a tensor has another element type or shape than its parameter is declared with",
		Cure:    "use the weights that were saved with the graph",
		Example: `graph.fx declares fc.weight : f32[10,4], weights.safetensors has f32[10,5]`,
	},
	{
		//gofx:code graph.FolderError
		Code: "FX8023", Title: "folder cannot be used",
		Cause:   "the operating system refuses to read or write the folder of a saved module",
		Cure:    "check that the path is a folder with the right permissions, and the space on its disk",
		Example: `graph.Load("no/such/folder")`,
	},
	{
		//gofx:code nn.MissingWeight
		Code: "FX8030", Title: "weight is missing",
		Cause:   "a module has a tensor that the weights lack: they belong to another network, or use other names",
		Cure:    "rename the weights with weights.Rename (weights.Renames proposes rules), change the module, or pass nn.NotStrict() to keep the module's tensors",
		Example: `nn.LoadStateDict(nn.NewLinear(4, 2), nn.Arrays{"weight": array.New(array.F32, 2, 4)})`,
	},
	{
		//gofx:code nn.UnexpectedWeight
		Code: "FX8031", Title: "weight is unexpected",
		Cause:   "the weights have a tensor that the module lacks",
		Cure:    "change the module, or pass nn.AllowUnexpected() to leave it out",
		Example: `nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F32, 1), "bias": array.New(array.F32, 1)})`,
	},
	{
		//gofx:code nn.WeightShape
		Code: "FX8032", Title: "weight has another shape",
		Cause:   "a weight and the module's tensor of that name differ in size; a linear weight is [out,in]",
		Cure:    "make the module with the sizes of the weights, or transpose the weight",
		Example: `nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F32, 2)})`,
	},
	{
		//gofx:code nn.WeightType
		Code: "FX8033", Title: "weight has another element type",
		Cause:   "a weight and the module's tensor of that name differ in element type, f16 and f32 for instance",
		Cure:    "pass nn.CastTypes() to convert the weights",
		Example: `nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F16, 1)})`,
	},
	{
		//gofx:code models.BadInput
		Code: "FX8034", Title: "synthetic input cannot be made",
		Cause:   "a symbol in the input's type has no size, or the sizes hold too many elements",
		Cure:    "give the size of every symbol",
		Example: `models.SyntheticInput(models.InputSpec{Name: "x", Type: "f32[N]", Rule: models.Uniform{}}, "seed", nil)`,
	},
	{
		//gofx:code models.NoDecoder
		Code: "FX8035", Title: "GGUF file has no decoder that is known",
		Cause:   "the architecture is none that models.LoadLlama builds, a rule of it is unknown (a window of attention, experts, another scaling of positions), or keys and tensors do not agree",
		Cure:    "load a file of one of the architectures that the message names; weights of others are read by gguf.Open",
		Example: `the key general.architecture = "mamba"`,
	},
	{
		//gofx:code nn.NoWeightFits
		Code: "FX8038", Title: "no weight belongs to the module",
		Cause:   "weights are given and none of them has a tensor to go to: they are of another model, or the module has no state",
		Cure:    "give the weights of this module; keep layers and parameters in its fields",
		Example: `nn.LoadStateDict(nn.NewReLU(), nn.Arrays{"weight": array.New(array.F32, 1)}, nn.NotStrict())`,
	},
	{
		//gofx:code nn.NoParameter
		Code: "FX8039", Title: "no parameter has the name",
		Cause:   "a name or pattern is the path of no tensor of the module, or is no pattern of path.Match",
		Cure:    "use the names that nn.StateDict lists, and * for any text in one",
		Example: `nn.Freeze(nn.NewLinear(4, 2), "weigth")`,
	},
	{
		//gofx:code draw/graphviz.TooLarge
		Code: "FX8040", Title: "picture is too large",
		Cause:   "a PNG would have too many nodes or pixels",
		Cure:    "draw SVG, or fewer levels of modules",
		Example: `fxgen draw a graph of 401 nodes -o big.png`,
	},
	{
		//gofx:code draw/graphviz.BadDOT
		Code: "FX8041", Title: "Graphviz refuses the drawing",
		Cause:   "the text is not in the DOT language, or Graphviz gave up while laying it out",
		Cure:    "check text that was written by hand; report it when draw.DOT wrote it",
		Example: `graphviz.Render(ctx, "digraph {", "svg")`,
	},
	{
		//gofx:code draw/graphviz.Format
		Code: "FX8042", Title: "picture format is unknown",
		Cause:   "pictures are rendered as svg and png only",
		Cure:    "ask for one of these",
		Example: `graphviz.Render(ctx, "digraph {}", "gif")`,
	},
	{
		//gofx:code draw.BadOverlay
		Code: "FX8043", Title: "overlay of a drawing cannot be used",
		Cause:   "the file is no JSON of names with numbers or texts, or it names nodes that the graph does not have after the passes",
		Cure:    "give names as fxgen print prints them with the same passes",
		Example: `{"convv1": 1.5} for a graph with %conv1`,
	},
	{
		//gofx:code models/sampling.BadSampling
		Code: "FX8045", Title: "no token can be drawn",
		Cause:   "a rule of sampling is out of its range, a score is no number, or no token is left",
		Cure:    "give rules in the ranges that the message names; scores that are no numbers come from the network or its weights",
		Example: `sampling.New(sampling.Config{TopP: 2})`,
	},
	{
		//gofx:code models/tokens.BadVocabulary
		Code: "FX8046", Title: "GGUF file has no vocabulary that is known",
		Cause:   "the file has no tokens, they are joined or texts are cut by a rule that is unknown, or the lists of the vocabulary do not agree",
		Cure:    "use a file of one of the models that the message names; a decoder also runs on token numbers of another tokenizer",
		Example: `the key tokenizer.ggml.model = "bert"`,
	},
	{
		//gofx:code models/decode.BadText
		Code: "FX8047", Title: "text cannot be read",
		Cause:   "tokens do not fit in the room that a decoder has for a text, are none of the network's, or an option of decode.New is out of its range",
		Cure:    "shorten the text, or give decode.Options.Positions more of the network's positions; use the tokens of the network's own file",
		Example: `decode.New(ctx, m, decode.Options{Block: 1})`,
	},
	{
		//gofx:code cmd/fxgen/internal/work.BadSource
		Code: "FX8050", Title: "source does not exist",
		Cause:   "the argument names no built-in network, and no file or folder of a kind that fxgen reads",
		Cure:    "give a built-in network, a .fx, .onnx, .pt2 or .gguf file, a saved folder, or ./pkg#Name",
		Example: `fxgen print no_such_network`,
	},
	{
		//gofx:code cmd/fxgen/internal/work.BadValue
		Code: "FX8051", Title: "flag's value does not fit",
		Cause:   "a flag gives an input, a size or a weight that the network does not have, or of another kind",
		Cure:    "compare with the inputs and types that fxgen print shows",
		Example: `fxgen run -shape x=1 mlp`,
	},
	{
		//gofx:code cmd/fxgen/internal/work.BadEngine
		Code: "FX8052", Title: "engine cannot run the source",
		Cause:   "the engine does not exist in this program, or does not take arguments of the function's types",
		Cure:    "use eager, lazy, interp, plan, module or gen",
		Example: `fxgen run -engine no_such_engine mlp`,
	},
	{
		//gofx:code cmd/fxgen/internal/work.NoWeights
		Code: "FX8053", Title: "code would have meaningless weights",
		Cause:   "the graph file, the source of the code, has no values for its parameters",
		Cure:    "give the weights with -weights FILE, or use synthetic ones with -weights synthetic:SEED",
		Example: `fxgen gen net.fx`,
	},
	{
		//gofx:code internal/userpkg.Compile
		Code: "FX8054", Title: "package does not compile",
		Cause:   "the package with the network has mistakes that the Go compiler reports",
		Cure:    "correct them; fxgen needs a package that compiles without its tests and without the code to be generated",
		Example: `fxgen print ./broken#Net`,
	},
	{
		//gofx:code cmd/fxgen/internal/cli.codeKept
		Code: "FX8055", Title: "file would be lost",
		Cause:   "a result would replace a file that fxgen did not write, that was changed since fxgen wrote it, that the command reads, or that is hand-written source of the captured package",
		Cure:    "choose another place, move the file away, or replace it with -force, which spares files that the command reads and the package's own source",
		Example: `fxgen print mlp -o notes.fx`,
	},
	{
		//gofx:code cmd/fxgen/internal/cli.codeNoWrite cmd/fxgen/internal/proc.NoFolder
		Code: "FX8056", Title: "file cannot be written",
		Cause:   "a folder is in the place of a file or a file in the place of a folder, or the operating system refuses to write there",
		Cure:    "check the path and the permissions and the space of its folder, or choose another place",
		Example: `fxgen print mlp -o broken`,
	},
	{
		//gofx:code cmd/fxgen/internal/exchange.Died
		Code: "FX8057", Title: "the model's code ended the program",
		Cause:   "the model, its constructor or its package called os.Exit or log.Fatal, stopped its goroutine, panicked in another one, overflowed the stack, or was killed while it was captured",
		Cure:    "return an error, or panic in the function itself; run it in a separate test to see more",
		Example: `fxgen print ./exits#Net`,
	},
	{
		//gofx:code codegen/certificate.Damaged
		Code: "FX8058", Title: "samples of a generated package are damaged",
		Cause:   "the file next to the package is not the one that fxgen wrote",
		Cure:    "generate the package again",
		Example: `certificate.Read(safetensorsWithoutHeader)`,
	},
	{
		//gofx:code codegen/certificate.Differs
		Code: "FX8059", Title: "results differ from the samples",
		Cause:   "the results of generated code differ from the samples, or the samples given with -samples are of another model",
		Cure:    "check that the samples belong to the model and its weights; else report it",
		Example: `output.Compare(another)`,
	},
}
