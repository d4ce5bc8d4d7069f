package diag

// passCodes explains the codes FX3xxx: graph transformations.
var passCodes = []Info{
	{
		Code: "FX3001", Title: "erase of a value that is used",
		Cause:   "Erase was called on a node that other nodes or symbols use",
		Cure:    "replace the uses first (ReplaceUses)",
		Example: "_ = g.Erase(used)",
	},
	{
		Code: "FX3002", Title: "graph without an output",
		Cause: "no output node was added, or it was erased",
		Cure:  "add one (Cursor.Output)",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[relu](%x)
}`,
	},
	{
		Code: "FX3003", Title: "use lists and operands disagree",
		Cause:   "operand slots were changed other than by SetArg and ReplaceUses; this is a bug of gofx",
		Cure:    "report it",
		Example: "n.args[0].def = other",
	},
	{
		Code: "FX3004", Title: "value used before it is made",
		Cause:   "a node was moved or an operand set so that the value is made later than it is used",
		Cure:    "move the nodes into order (MoveBefore)",
		Example: "g.MoveBefore(user, operand)",
	},
	{
		Code: "FX3005", Title: "operand is not a value of the graph",
		Cause:   "an operand was erased, or belongs to another graph or an enclosing one",
		Cure:    "make the value in this graph, or pass it to the region",
		Example: "n.SetArg(0, nodeOfAnotherGraph)",
	},
	{
		Code: "FX3006", Title: "placeholder behind other nodes",
		Cause: "an input was added in the middle of the graph, so that the signature is not clear",
		Cure:  "make placeholders before the first other node (g.Before)",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[relu](%x)
  %z = placeholder[z] : f32[2,3]
  return %y, %z
}`,
	},
	{
		Code: "FX3007", Title: "misplaced output",
		Cause:   "the graph has a second output, or nodes behind the output",
		Cure:    "insert before the output (g.Before(g.Output()))",
		Example: "g.At().Output(nil, x); g.At().Output(nil, x)",
	},
	{
		Code: "FX3008", Title: "two nodes with one name",
		Cause:   "names were set past the cursor; this is a bug of gofx",
		Cure:    "report it",
		Example: "a.base, a.num = b.base, b.num",
	},
	{
		Code: "FX3009", Title: "call without a fitting operator",
		Cause:   "a node or leaf module has no operator, or attributes of another operator",
		Cure:    "give the operator's own attributes struct",
		Example: "m.SetBound(path, Bound{Op: op.GetItem, Attrs: op.None{}})",
	},
	{
		Code: "FX3011", Title: "parameter is not in the module",
		Cause: "a get_attr node or leaf module names a path that has no tensor",
		Cure:  "add the tensor (Module.SetParam)",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %w = get_attr[missing] : f32[3]
  return %w
}`,
	},
	{
		Code: "FX3012", Title: "called module is unknown",
		Cause: "a call_module node names a path of which the graph module does not know what it does",
		Cure:  "say what it does (Module.SetBound)",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_module[missing](%x) : f32[2,3]
  return %y
}`,
	},
	{
		Code: "FX3013", Title: "symbol is not defined",
		Cause: "a type or attribute mentions a symbol that is no size of a value made before",
		Cure:  "define it (Graph.DefineSymbol)",
		Example: `gofx 1
graph g(%x: ?[*]) {
  %y = call_function[relu](%x) : f32[N,2]
  return %y
}`,
	},
	{
		Code: "FX3014", Title: "symbol or guard without its node",
		Cause: "the node that a symbol or guard speaks of is gone, or has no such axis, or a guard needs an unknown symbol",
		Cure:  "replace uses of the node (ReplaceUses) rather than cutting it off",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  guard N == 2*M
  return %x
}`,
	},
	{
		Code: "FX3015", Title: "type disagrees with the operands",
		Cause:   "a pass changed operands or attributes and not the type, or set a wrong type",
		Cure:    "infer the type again (Node.Infer)",
		Example: "n.SetType(other)",
	},
	{
		Code: "FX3016", Title: "results are packed wrongly",
		Cause:   "the structure of an output names operands that it has not, or leaves some out",
		Cure:    "give Cursor.Output a structure that fits its operands",
		Example: "g.At().Output(graph.Leaf(1), x)",
	},
	{
		Code: "FX3017", Title: "regions do not fit their operator",
		Cause: "cond and while need two regions, scan one, with one input for each operand, and results that fit",
		Cure:  "give the call the regions that its operator needs",
		Example: `gofx 1
graph g(%p: bool[], %x: f32[2]) {
  %y = call_function[cond](%p, %x) : f32[2] {
    region(%a: f32[2]) {
      return %a
    }
  }
  return %y
}`,
	},
	{
		Code: "FX3018", Title: "list of nodes is inconsistent",
		Cause:   "links or counts were changed past the graph's methods; this is a bug of gofx",
		Cure:    "report it",
		Example: "g.count++",
	},
	{
		Code: "FX3019", Title: "operands do not fit the operator",
		Cause:   "a call has more operands than its operator takes, or a required one is absent",
		Cure:    "give the operands that the operator's record lists (op.Op.In)",
		Example: "n.SetArg(0, nil)",
	},
}
