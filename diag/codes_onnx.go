package diag

// onnxCodes explains the codes FX81xx: models in ONNX's format. Examples are in the
// text syntax of ONNX, or name the bytes of a file.
var onnxCodes = []Info{
	{
		//gofx:code internal/onnxpb.CodeMalformed
		Code: "FX8101", Title: "ONNX file is malformed",
		Cause:   "the file is not a protocol buffer of ONNX, was cut off, nests messages too deep, or has a structure larger than any network's",
		Cure:    "copy, download or export the file again",
		Example: `bytes 3a 05 0a`,
	},
	{
		//gofx:code onnx.CodeOperator onnx/internal/spec.CodeOperator
		Code: "FX8102", Title: "operator of ONNX is not supported",
		Cause:   "the model has an operator that gofx does not have, not in this version, or not in this use of it",
		Cure:    "export the model without it, with another operator set, or with the operator written out as a function of the model",
		Example: `<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Frobnicate(x) }`,
	},
	{
		//gofx:code onnx.CodeAttribute onnx/internal/spec.CodeAttribute
		Code: "FX8103", Title: "attribute of an ONNX operator is not supported",
		Cause:   "the operator is supported, but not with this attribute or this value of it",
		Cure:    "export the model with what the message names, or another operator",
		Example: `<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Relu<slope = 2>(x) }`,
	},
	{
		//gofx:code onnx.CodeModel onnx/internal/spec.CodeModel
		Code: "FX8104", Title: "ONNX model contradicts itself",
		Cause:   "a name is used that no node computes before, two values have one name, an operand or attribute is missing or impossible",
		Cure:    "export the model again; a program that edited it may have broken it",
		Example: `<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Relu(z) }`,
	},
	{
		//gofx:code onnx.CodeValue onnx/internal/spec.CodeValue
		Code: "FX8105", Title: "size follows from a value that is not known",
		Cause:   "a shape, an axis, a count or a bound is computed from the value of an input, not from its size",
		Cure:    "give the value of the input that the message names (it becomes a constant of the graph), or the sizes of inputs when importing",
		Example: `<ir_version: 8, opset_import: ["" : 17]> g (float[6] x, int64[n] s) => (float[a,b] y) { y = Reshape(x, s) }`,
	},
	{
		//gofx:code onnx.CodeExternal onnx/internal/spec.CodeExternal
		Code: "FX8106", Title: "data outside of an ONNX file cannot be read",
		Cause:   "the model has data in a file that is not in its folder, is shorter than the model says, or cannot be read",
		Cure:    "put the files of the model into one folder, as they were exported",
		Example: `a tensor with external data at ../weights.bin`,
	},
	{
		//gofx:code onnx.CodeTensor onnx/internal/spec.CodeTensor
		Code: "FX8107", Title: "data of an ONNX constant do not fit its type",
		Cause:   "the bytes or values of a tensor are more or fewer than its shape holds, a size is negative, or an index of a sparse tensor lies outside",
		Cure:    "export the model again, the file is damaged",
		Example: `a tensor float[2] with 4 bytes`,
	},
	{
		//gofx:code onnx.CodeType onnx/internal/spec.CodeType
		Code: "FX8108", Title: "element type of ONNX is not supported",
		Cause:   "a value is a string, complex or a sequence, or has elements of less than a byte, where arrays of numbers are expected",
		Cure:    "export the model with one of the types that the message lists",
		Example: `<ir_version: 8, opset_import: ["" : 17]> g (string[2] x) => (string[2] y) { y = Identity(x) }`,
	},
	{
		//gofx:code onnx.CodeRead onnx/internal/spec.CodeRead
		Code: "FX8109", Title: "ONNX file cannot be read",
		Cause:   "the file does not exist, or the operating system refuses to read it",
		Cure:    "check the path and its permissions",
		Example: `onnx.Read("no/such/file.onnx")`,
	},
	{
		//gofx:code onnx.CodeDiffers
		Code: "FX8110", Title: "results of an ONNX model differ from its samples",
		Cause:   "the outputs have other types or sizes than the sample files of the model, or elements differ by more than the tolerance",
		Cure:    "allow more with -rtol and -atol where the difference is rounding; else compare engines, and report it",
		Example: `a sample of float[2] and the result float[3]`,
	},
	{
		//gofx:code onnx.CodeExport onnx/internal/spec.CodeExport
		Code: "FX8111", Title: "graph cannot be written as ONNX",
		Cause:   "ONNX has no operator for a node, a type is not known, or a node writes to state of the model; or the requested operator set is too old",
		Cure:    "export the part of the model without it, capture with types of the inputs, or ask for a newer operator set",
		Example: `onnx.Export of a graph that assigns to a buffer`,
	},
}
