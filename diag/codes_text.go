package diag

// textCodes explains the codes FX7xxx: the text form of graphs, types and sizes.
var textCodes = []Info{
	{
		Code: "FX7002", Title: "malformed dimension, shape or type",
		Cause:   "a size is a number, a symbol or an expression of these with + - * // and parentheses, or ? alone; a type is an element type and sizes in brackets, [*] for an unknown rank, or a tuple of types in parentheses",
		Cure:    "correct the text at the column that the message names",
		Example: "f32[N,3/2]",
	},
}
