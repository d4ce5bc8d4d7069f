package diag

// fileCodes explains the codes FX8xxx: files and weights.
var fileCodes = []Info{
	{
		Code: "FX8001", Title: "safetensors file is too short",
		Cause:   "the first eight bytes give the length of the header, and the file has fewer bytes, or the length is above 100000000",
		Cure:    "copy or download the file again, it is cut off or no safetensors file",
		Example: `8-byte length 9, header {}, data of 0 bytes`,
	},
	{
		Code: "FX8002", Title: "safetensors header is malformed",
		Cause:   "the header is no JSON object of tensors with dtype, shape and data_offsets",
		Cure:    "write the file again with a program that keeps to the format",
		Example: `8-byte length 7, header {"a":1}, data of 0 bytes`,
	},
	{
		Code: "FX8003", Title: "safetensors element type is unknown",
		Cause:   "the dtype of a tensor is none that arrays have",
		Cure:    "convert the tensor to one of the types that the message lists",
		Example: `8-byte length 58, header {"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}, data of 1 bytes`,
	},
	{
		Code: "FX8004", Title: "safetensors shape and data disagree",
		Cause:   "the product of shape and element size is not the length that data_offsets give",
		Cure:    "write the file again, the header does not belong to the data",
		Example: `8-byte length 54, header {"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}, data of 4 bytes`,
	},
	{
		Code: "FX8005", Title: "safetensors data lies outside the file",
		Cause:   "data_offsets are reversed or end behind the last byte",
		Cure:    "copy or download the file again, it is cut off",
		Example: `8-byte length 54, header {"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}, data of 3 bytes`,
	},
	{
		Code: "FX8006", Title: "safetensors tensors overlap or leave gaps",
		Cause:   "the format demands that the tensors cover the data exactly",
		Cure:    "write the file again with a program that keeps to the format",
		Example: `8-byte length 53, header {"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}, data of 2 bytes`,
	},
	{
		Code: "FX8007", Title: "safetensors name occurs twice or is missing",
		Cause:   "two tensors, or two keys of one object, have the same name; or a tensor was asked for that the file lacks",
		Cure:    "rename one of them, or ask for a name that the file has",
		Example: `8-byte length 37, header {"__metadata__":{},"__metadata__":{}}, data of 0 bytes`,
	},
	{
		Code: "FX8008", Title: "tensors cannot be written as safetensors",
		Cause:   "a name repeats, is reserved or is not UTF-8, or a tensor has no data or no element type",
		Cure:    "give each tensor a name of its own and data",
		Example: `safetensors.Write(w, []safetensors.Named{{"a", x}, {"a", x}}, nil)`,
	},
	{
		Code: "FX8009", Title: "weights cannot be read",
		Cause:   "the operating system reports an error, or the file became shorter while it was read",
		Cure:    "check that the path is a file that can be read",
		Example: `safetensors.ReadFile("no/such/file.safetensors")`,
	},
	{
		Code: "FX8010", Title: "file is not a .npy file",
		Cause:   "it does not begin with the magic bytes, or has a version other than 1, 2 and 3",
		Cure:    "save the array with numpy.save",
		Example: `version 4, header {'descr': '|u1', 'fortran_order': False, 'shape': (1,)}, data of 1 bytes`,
	},
	{
		Code: "FX8011", Title: ".npy header is malformed",
		Cause:   "the header is no dictionary of descr, fortran_order and shape, or is longer than 65536 bytes, or bytes follow the array",
		Cure:    "save the array again with numpy.save",
		Example: `version 1, header {'descr': '|u1'}, data of 1 bytes`,
	},
	{
		Code: "FX8012", Title: ".npy element type is unknown",
		Cause:   "descr is complex, a structure, text, or Python objects",
		Cure:    "convert the array with astype before it is saved",
		Example: `version 1, header {'descr': '<c8', 'fortran_order': False, 'shape': (1,)}, data of 8 bytes`,
	},
	{
		Code: "FX8013", Title: ".npy array is too large",
		Cause:   "the shape asks for more bytes than the file or the caller allows",
		Cure:    "check the shape in the header, or allow more",
		Example: `version 1, header {'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296)}, data of 0 bytes`,
	},
	{
		Code: "FX8014", Title: ".npy file cannot be read",
		Cause:   "it ends early, or the operating system reports an error",
		Cure:    "copy the file again, it is cut off",
		Example: `version 1, header {'descr': '|u1', 'fortran_order': False, 'shape': (2,)}, data of 1 bytes`,
	},
	{
		Code: "FX8015", Title: "array cannot be written as .npy",
		Cause:   "NumPy lacks the element type (bf16), or the array has more than 64 dimensions",
		Cure:    "convert the array first, to f32 for instance",
		Example: `npy.Write(w, array.New(array.BF16, 1))`,
	},
	{
		Code: "FX8020", Title: "parameter without a value",
		Cause:   "a saved graph declares a parameter that the weights lack, or a module is saved before its weights are loaded",
		Cure:    "load the weights that belong to the graph",
		Example: `graph.fx declares fc.weight, weights.safetensors has no tensor of that name`,
	},
	{
		Code: "FX8021", Title: "tensor that is not declared",
		Cause:   "the weights have a tensor that the graph does not know",
		Cure:    "use the weights that were saved with the graph",
		Example: `weights.safetensors has a tensor extra, graph.fx has no line param extra`,
	},
	{
		Code: "FX8022", Title: "tensor of another type",
		Cause:   "a tensor has another element type or shape than its parameter is declared with",
		Cure:    "use the weights that were saved with the graph",
		Example: `graph.fx declares fc.weight : f32[10,4], weights.safetensors has f32[10,5]`,
	},
	{
		Code: "FX8023", Title: "folder cannot be used",
		Cause:   "the operating system refuses to read or write the folder of a saved module",
		Cure:    "check that the path is a folder with the right permissions",
		Example: `graph.Load("no/such/folder")`,
	},
	{
		Code: "FX8030", Title: "weight is missing",
		Cause:   "a module has a tensor that the weights lack: they belong to another network, or use other names",
		Cure:    "rename the weights, change the module, or pass nn.NotStrict() to keep what the module has",
		Example: `nn.LoadStateDict(nn.NewLinear(4, 2), nn.Arrays{"weight": array.New(array.F32, 2, 4)})`,
	},
	{
		Code: "FX8031", Title: "weight is unexpected",
		Cause:   "the weights have a tensor that the module lacks",
		Cure:    "change the module, or pass nn.AllowUnexpected() to leave it out",
		Example: `nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F32, 1), "bias": array.New(array.F32, 1)})`,
	},
	{
		Code: "FX8032", Title: "weight has another shape",
		Cause:   "a weight and the module's tensor of that name differ in size; a linear weight is [out,in]",
		Cure:    "make the module with the sizes of the weights, or transpose the weight",
		Example: `nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F32, 2)})`,
	},
	{
		Code: "FX8033", Title: "weight has another element type",
		Cause:   "a weight and the module's tensor of that name differ in element type, f16 and f32 for instance",
		Cure:    "pass nn.CastTypes() to convert the weights",
		Example: `nn.LoadStateDict(nn.NewPReLU(1), nn.Arrays{"weight": array.New(array.F16, 1)})`,
	},
	{
		Code: "FX8034", Title: "synthetic input cannot be made",
		Cause:   "a symbol in the input's type has no size, or the sizes hold too many elements",
		Cure:    "give the size of every symbol",
		Example: `models.SyntheticInput(models.InputSpec{Name: "x", Type: "f32[N]", Rule: models.Uniform{}}, "seed", nil)`,
	},
}
