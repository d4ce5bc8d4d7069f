package diag

// textCodes explains the codes FX7xxx: the text form of graphs, types and sizes.
var textCodes = []Info{
	{
		//gofx:code shape.CodeText
		Code: "FX7002", Title: "malformed dimension, shape or type",
		Cause:   "a size is a number, a symbol or an expression of these with + - * // and parentheses, or ? alone; a type is an element type and sizes in brackets, [*] for an unknown rank, or a tuple of types in parentheses",
		Cure:    "correct the text at the column that the message names",
		Example: "f32[N,3/2]",
	},
	{
		//gofx:code graph.TextVersionError
		Code: "FX7001", Title: "unknown version of the text form",
		Cause: "the first line does not say gofx 1",
		Cure:  "write the text with this version of gofx, or read it with the one that wrote it",
		Example: `gofx 2
graph g(%x: f32[2]) {
  return %x
}`,
	},
	{
		//gofx:code graph.SyntaxError
		Code: "FX7003", Title: "syntax error",
		Cause: "the line does not follow the grammar of docs/ir.md there",
		Cure:  "correct the line at the column that the message names",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y call_function[relu](%x)
  return %x
}`,
	},
	{
		//gofx:code graph.Undefined
		Code: "FX7004", Title: "undefined value",
		Cause: "an operand names a value that no line before it defines in the same graph or region",
		Cure:  "define it before, or pass it to the region as an operand",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[relu](%z)
  return %y
}`,
	},
	{
		//gofx:code graph.Redefined
		Code: "FX7005", Title: "name defined twice",
		Cause: "two values, symbols, parameters or modules have one name",
		Cure:  "rename one of them",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %x = call_function[relu](%x)
  return %x
}`,
	},
	{
		//gofx:code graph.UnknownOp
		Code: "FX7006", Title: "unknown operator",
		Cause: "no package that is linked into the program defines an operator of that name",
		Cure:  "import the package that defines it (fxgen: -import ./ops), or correct the name",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[relux](%x)
  return %y
}`,
	},
	{
		//gofx:code graph.WrittenType
		Code: "FX7007", Title: "written type is not the inferred one",
		Cause: "the type after the colon contradicts the type that follows from the operands",
		Cure:  "leave the type out, or correct it",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[relu](%x) : f32[2,4]
  return %y
}`,
	},
	{
		//gofx:code graph.TextLimit
		Code: "FX7008", Title: "text nests too deeply or asks for too much",
		Cause: "regions or results nest deeper than 64 levels, more than 1024 pairs of sizes must be taken as equal, or calls have so many results, or sizes so long expressions, that they take far more memory than the text",
		Cure:  "flatten them; use the same symbol for sizes that are equal, and symbols of their own for long expressions",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  return [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[%x]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
}`,
	},
	{
		//gofx:code graph.GraphCount
		Code: "FX7009", Title: "not exactly one graph",
		Cause: "the text has no graph, or more than one",
		Cure:  "put each graph into a separate text",
		Example: `gofx 1
param w : f32[2]`,
	},
	{
		//gofx:code graph.Misplaced
		Code: "FX7010", Title: "statement in the wrong place",
		Cause: "a block is not closed, a statement follows the return, or a region stands outside of a call",
		Cure:  "close the block, or move the statement",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  return %x
  note "behind"
}`,
	},
	{
		//gofx:code graph.BadDefault
		Code: "FX7011", Title: "unreadable default value",
		Cause: "the default of an input is not a number, bool, string or array",
		Cure:  "write one of these; other Go values have no text form",
		Example: `gofx 1
graph g(%x: f32[2] = opaque) {
  return %x
}`,
	},
	{
		//gofx:code graph.TooMany
		Code: "FX7012", Title: "too many mistakes",
		Cause: "reading stopped after 100 mistakes; the text may not be a graph",
		Cure:  "correct the first mistakes and read again",
		Example: `gofx 1
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
?
`,
	},
}
