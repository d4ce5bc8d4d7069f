package diag

// passCodes explains the codes FX3xxx: graph transformations.
var passCodes = []Info{
	{
		//gofx:code graph.EraseUsed
		Code: "FX3001", Title: "erase of a value that is used",
		Cause:   "Erase was called on a node that other nodes or symbols use",
		Cure:    "replace the uses first (ReplaceUses)",
		Example: "_ = g.Erase(used)",
	},
	{
		//gofx:code graph.NoOutput
		Code: "FX3002", Title: "graph without an output",
		Cause: "no output node was added, or it was erased",
		Cure:  "add one (Cursor.Output)",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_function[relu](%x)
}`,
	},
	{
		//gofx:code graph.BrokenUses
		Code: "FX3003", Title: "use lists and operands disagree",
		Cause:   "operand slots were changed other than by SetArg and ReplaceUses; this is a bug of gofx",
		Cure:    "report it",
		Example: "n.args[0].def = other",
	},
	{
		//gofx:code graph.BrokenOrder
		Code: "FX3004", Title: "value used before it is made",
		Cause:   "a node was moved or an operand set so that the value is made later than it is used",
		Cure:    "move the nodes into order (Node.Prepend), or let Graph.Sort do it",
		Example: "g.MoveBefore(user, operand)",
	},
	{
		//gofx:code graph.ForeignNode
		Code: "FX3005", Title: "operand is not a value of the graph",
		Cause:   "an operand was erased, or belongs to another graph or an enclosing one",
		Cure:    "make the value in this graph, or pass it to the region",
		Example: "n.SetArg(0, nodeOfAnotherGraph)",
	},
	{
		//gofx:code graph.LatePlaceholder
		Code: "FX3006", Title: "placeholder after other nodes",
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
		//gofx:code graph.OutputPlace
		Code: "FX3007", Title: "misplaced output",
		Cause:   "the graph has a second output, or nodes after the output",
		Cure:    "insert before the output (g.Before(g.Output()))",
		Example: "g.At().Output(nil, x); g.At().Output(nil, x)",
	},
	{
		//gofx:code graph.DuplicateName
		Code: "FX3008", Title: "two nodes with one name",
		Cause:   "names were set past the cursor; this is a bug of gofx",
		Cure:    "report it",
		Example: "a.base, a.num = b.base, b.num",
	},
	{
		//gofx:code graph.BadOperator
		Code: "FX3009", Title: "call without a fitting operator",
		Cause:   "a node or leaf module has no operator, or attributes of another operator",
		Cure:    "give the operator's own attributes struct",
		Example: "m.SetBound(path, Bound{Op: op.GetItem, Attrs: op.None{}})",
	},
	{
		//gofx:code graph.MissingParam
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
		//gofx:code graph.MissingModule
		Code: "FX3012", Title: "called module is unknown",
		Cause: "a call_module node names a path that the graph module has no record for",
		Cure:  "add the record (Module.SetBound)",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  %y = call_module[missing](%x) : f32[2,3]
  return %y
}`,
	},
	{
		//gofx:code graph.UndefinedSymbol
		Code: "FX3013", Title: "symbol is not defined",
		Cause: "a type or attribute mentions a symbol that is not a size of an earlier value",
		Cure:  "define it (Graph.DefineSymbol)",
		Example: `gofx 1
graph g(%x: ?[*]) {
  %y = call_function[relu](%x) : f32[N,2]
  return %y
}`,
	},
	{
		//gofx:code graph.DeadFact
		Code: "FX3014", Title: "symbol or guard without its node",
		Cause: "the node of a symbol or guard is gone, or has no such axis, or a guard needs an unknown symbol",
		Cure:  "replace uses of the node (ReplaceUses) rather than cutting it off",
		Example: `gofx 1
graph g(%x: f32[2,3]) {
  guard N == 2*M
  return %x
}`,
	},
	{
		//gofx:code graph.TypeDisagrees
		Code: "FX3015", Title: "type disagrees with the operands",
		Cause:   "a pass changed operands or attributes and not the type, or set a wrong type; or a parameter that a get_attr node reads was replaced by one of another type",
		Cure:    "infer the type again (Node.Infer), or give the parameter a tensor of the type that is read (Module.SetParam)",
		Example: "n.SetType(other)",
	},
	{
		//gofx:code graph.BadStructure
		Code: "FX3016", Title: "results are packed wrongly",
		Cause:   "the structure of an output names operands that the output does not have, or leaves some out",
		Cure:    "give Cursor.Output a structure that fits its operands",
		Example: "g.At().Output(graph.Leaf(1), x)",
	},
	{
		//gofx:code graph.BadRegions
		Code: "FX3017", Title: "regions do not fit their operator",
		Cause: "cond and while need two regions, scan one, with one input for each operand, results that fit, and loop attributes that name existing operands",
		Cure:  "give the call the regions, operands and attributes that its operator needs",
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
		//gofx:code graph.BadAssign
		Code: "FX3040", Title: "assign to a tensor that is not state",
		Cause: "an assign node writes something other than a tensor that a get_attr node reads: an input, which the caller would see change, or a value that others read",
		Cure:  "assign to a buffer of the model",
		Example: `gofx 1
graph g(%x: f32[2]) {
  %y = call_function[assign](%x, %x)
  return %y
}`,
	},
	{
		//gofx:code graph.BadCall
		Code: "FX3042", Title: "call that does not fit its sub-graph",
		Cause: "a call names a sub-graph that the module does not have, gives it another number of operands than it has inputs, or operands that are not tensors or have other types than its inputs",
		Cure:  "give the call one tensor for each input of the sub-graph",
		Example: `gofx 1
graph g(%x: f32[2]) {
  %y = call_function[call](%x, %x) {graph="twice"} : f32[2]
  return %y
}
subgraph twice(%x: f32[2]) {
  %y = call_function[add](%x, %x)
  return %y
}`,
	},
	{
		//gofx:code graph.Recursive
		Code: "FX3043", Title: "sub-graphs that call each other",
		Cause: "a sub-graph calls itself, directly or through others, so that its run would not end",
		Cure:  "write loops with while or scan",
		Example: `gofx 1
graph g(%x: f32[2]) {
  %y = call_function[call](%x) {graph="again"} : f32[2]
  return %y
}
subgraph again(%x: f32[2]) {
  %y = call_function[call](%x) {graph="again"} : f32[2]
  return %y
}`,
	},
	{
		//gofx:code graph.BadOutline
		Code: "FX3044", Title: "nodes cannot become a sub-graph",
		Cause:   "graph.Outline was given nodes of several graphs, inputs or the output; a value from outside lies on the way from one to another; or effects would change their order",
		Cure:    "add the nodes that the message names, or leave them out",
		Example: "graph.Outline(\"part\", []*graph.Node{m.Graph.Find(\"a\"), m.Graph.Find(\"c\")})",
	},
	{
		//gofx:code graph.BadExtract
		Code: "FX3041", Title: "part of a graph cannot stand on its own",
		Cause:   "graph.Extract was given values of several graphs or tuples, sizes of the part come only from outside, or a call outside writes state that the part reads",
		Cure:    "give values of one graph; add the values whose sizes are used to the inputs, and calls that write to the outputs",
		Example: "graph.Extract(nil, []*graph.Node{split})",
	},
	{
		//gofx:code graph.CyclicGraph
		Code: "FX3070", Title: "nodes need each other",
		Cause:   "an edit made a value an operand of a node that it is computed from, or effects would have to come in another order than they have",
		Cure:    "take one of the nodes that the message names out of the operands of the next",
		Example: "a.SetArg(0, b); b.SetArg(0, a); g.Sort()",
	},
	{
		//gofx:code graph.EditBroke
		Code: "FX3071", Title: "edit left an invalid graph",
		Cause:   "after a graph.Edit the graph does not satisfy the constraints of docs/ir.md; the module is as it was before",
		Cure:    "repair in the edit the mistakes that the message lists; Graph.Sort repairs the order",
		Example: "graph.Edit(m, func(g *graph.Graph) error { return g.Erase(g.Output()) })",
	},
	{
		//gofx:code graph.EditPanicked
		Code: "FX3072", Title: "edit panicked",
		Cause:   "the function that was given to graph.Edit panicked; the module is as it was before",
		Cure:    "look at the position of the message",
		Example: "graph.Edit(m, func(g *graph.Graph) error { return g.Erase(g.Find(\"typo\")) })",
	},
	{
		//gofx:code graph.BadReplace
		Code: "FX3073", Title: "a call cannot become one of another operator",
		Cause:   "Node.ReplaceWith was asked for an operator that gives a value of another type or has other effects, or the node is not an ordinary call",
		Cure:    "make the new call with a Cursor, replace the uses (ReplaceUses) and infer the types of the users again",
		Example: "relu.ReplaceWith(std.Argmax)",
	},
	{
		//gofx:code graph.BrokenNodeList
		Code: "FX3018", Title: "list of nodes is inconsistent",
		Cause:   "links or counts were changed past the graph's methods; this is a bug of gofx",
		Cure:    "report it",
		Example: "g.count++",
	},
	{
		//gofx:code graph.BadOperandCount
		Code: "FX3019", Title: "operands do not fit the operator",
		Cause:   "a call has more operands than its operator takes, or a required one is absent",
		Cure:    "give the operands that the operator's record lists (op.Op.In)",
		Example: "n.SetArg(0, nil)",
	},
	{
		//gofx:code interp.Dropped
		Code: "FX3010", Title: "value dropped by a transformer",
		Cause:   "Transformer.Node returned nil for a node whose value is used",
		Cure:    "return the node that stands for the old one",
		Example: "interp.Transformer{Node: dropAll}",
	},
	{
		//gofx:code passes.BadPipeline
		Code: "FX3020", Title: "pipeline cannot run as it is listed",
		Cause:   "a name is not in the pipeline, a pass has no name or no Run, or passes stand in an order that does not work",
		Cure:    "name passes of the pipeline, and follow the order that the message gives",
		Example: "passes.Run(ctx, m, []passes.Pass{simplify.Decompose, fusion.ConvBN}, passes.Options{})",
	},
	{
		//gofx:code passes.MissingFact
		Code: "FX3021", Title: "fact that a pass requires does not hold",
		Cause:   "the pass works on graphs of another form, for instance on function calls only",
		Cure:    "run the pass that the hint names before",
		Example: `passes.Pass{Name: "p", Requires: []passes.Fact{passes.Functional}, Run: nop}`,
	},
	{
		//gofx:code passes.BrokenFact
		Code: "FX3022", Title: "pass broke a fact that it does not list",
		Cause:   "the pass made nodes without types, method calls in a functional graph, or the like",
		Cure:    "make nodes with a Cursor, or list the fact under Breaks",
		Example: `passes.EachNode("p", "", func(c *passes.Ctx, n *graph.Node) error { n.SetType(unknown); return nil })`,
	},
	{
		//gofx:code passes.LintFailed
		Code: "FX3023", Title: "graph is invalid before or after a pass",
		Cause:   "the module was broken before, or the pass moved nodes or set operands so that Lint finds mistakes; they follow the message",
		Cure:    "repair the listed mistakes; Run has left the module unchanged",
		Example: `passes.EachNode("p", "", func(c *passes.Ctx, n *graph.Node) error { g.MoveBefore(g.Output(), n); return nil })`,
	},
	{
		//gofx:code passes.Panicked
		Code: "FX3024", Title: "pass panicked",
		Cause:   "the code of the pass has a bug; the position is where it panicked. For a function that chooses parts of a graph (passes/partition) the message names the node of the call",
		Cure:    "correct the pass",
		Example: `passes.EachNode("p", "", func(c *passes.Ctx, n *graph.Node) error { panic("oh") })`,
	},
	{
		//gofx:code passes.MatchCount
		Code: "FX3025", Title: "pass did not match the expected number of times",
		Cause:   "the model changed so that a pattern no longer fits, or fits in more places",
		Cure:    "read the first candidate that did not match, change the model or the expectation",
		Example: `passes.Options{Expect: []passes.Expectation{passes.Expect("conv-bn", 53)}}`,
	},
	{
		//gofx:code passes.NumericChange
		Code: "FX3026", Title: "pass changed what the graph computes",
		Cause:   "the results on the numeric check's inputs differ by more than its bounds, or the graph does not run any more",
		Cure:    "correct the pass, or allow larger differences (Numeric.Rel, Numeric.Abs)",
		Example: "relu replaced by neg, with passes.Options{Numeric: &passes.Numeric{}}",
	},
	{
		//gofx:code passes.NoInputs
		Code: "FX3027", Title: "numeric check cannot run the original graph",
		Cause:   "an input has no known type, a parameter no value, or the sizes that were chosen do not suit the graph",
		Cure:    "trace with input types, load the weights, give Numeric.Sizes or Numeric.Inputs",
		Example: "an input of type f32[*], with passes.Options{Numeric: &passes.Numeric{}}",
	},
	{
		//gofx:code passes.NoFixpoint
		Code: "FX3028", Title: "repeating a pass does not end",
		Cause:   "a rule matches its own result, or two rules undo each other",
		Cure:    "filter the rule (Rewrite.Where), or allow more rounds",
		Example: `passes.Fixpoint(passes.Pass{Name: "p", Run: alwaysChanged}, 3)`,
	},
	{
		//gofx:code passes.BadRule
		Code: "FX3029", Title: "pattern and replacement of a rule do not fit",
		Cause:   "a function cannot be traced, the numbers of parameters or results differ, the pattern would match everything, or the replacement has another type",
		Cure:    "give both functions the same signature, and the pattern at least one operator",
		Example: "passes.Rewrite{Pattern: func(x T) T { return x }, Replacement: func(x T) T { return x.Neg() }}",
	},
	{
		//gofx:code passes.DumpFailed
		Code: "FX3030", Title: "graphs cannot be dumped",
		Cause:   "the dump folder cannot be made or written",
		Cure:    "give a folder that can be written",
		Example: `passes.Options{DumpDir: "file.txt/dump"}`,
	},
	{
		//gofx:code passes/simplify.TooManyNodes
		Code: "FX3031", Title: "decomposition does not end",
		Cause:   "an operator is defined by itself, directly or through others",
		Cure:    "define it by simpler operators",
		Example: "an operator whose Decompose calls the operator",
	},
	{
		//gofx:code passes/shapeprop.NoSuchInput
		Code: "FX3032", Title: "type is given for an input that the graph lacks",
		Cause:   "the name is misspelt, or the input has another name in the graph",
		Cure:    "use one of the names that the hint lists",
		Example: `shapeprop.Infer(map[string]shape.Type{"q": t}) on a graph of x`,
	},
	{
		//gofx:code passes/shapeprop.NoSuchSymbol
		Code: "FX3033", Title: "size is given for a symbol that the graph lacks, or is negative",
		Cause:   "the name is misspelt, or the input has a fixed size",
		Cure:    "use one of the symbols that the hint lists",
		Example: `shapeprop.Specialize(map[string]int{"Q": 8}) on a graph without symbols`,
	},
	{
		//gofx:code passes/schedule.NoWait
		Code: "FX3060", Title: "value made elsewhere is read without a wait",
		Cause:   "a node of the host reads a value of another resource, and nothing waits for it",
		Cure:    "run the pass schedule.Overlap, which inserts waits, or put wait between them",
		Example: `schedule.On.Set(g.Find("linear"), "gpu0"), and then schedule.Simulate(g, m)`,
	},
	{
		//gofx:code passes/schedule.NoPlacement
		Code: "FX3061", Title: "graph does not fit the devices",
		Cause:   "a call takes more memory than a device has, all of them are full, there is none, or sizes are not known",
		Cure:    "add a device or one with more memory, make sizes smaller, and give Fleet.Sizes for symbols",
		Example: `schedule.Fleet{Devices: []schedule.Device{{On: "gpu0", Memory: 4}}}.BySize(g)`,
	},
	{
		//gofx:code passes/schedule.PlacedInBody
		Code: "FX3062", Title: "node in a body of control flow is placed elsewhere",
		Cause:   "a node within cond, while or scan has another resource than the node with the body, which runs in one place",
		Cure:    "place the call of cond, while or scan as a whole, or move the work out of its body",
		Example: `schedule.On.Set(body.Find("linear"), "gpu0"), and then schedule.Simulate(g, m)`,
	},
	{
		//gofx:code passes/debug.NothingFails
		Code: "FX3080", Title: "no failure to search for",
		Cause:   "the check accepts the graph, or the result of the whole pipeline",
		Cure:    "give the inputs, sizes, engine and bounds with which it fails",
		Example: "debug.Bisect(ctx, m, []passes.Pass{simplify.DCE}, passes.Options{}, nil)",
	},
	{
		//gofx:code passes/debug.FailsBefore
		Code: "FX3081", Title: "check refuses the graph before any pass",
		Cause:   "the pipeline is not at fault, or the check is wrong",
		Cure:    "see that the check accepts the graph as it was captured",
		Example: "debug.Bisect with a check that always fails",
	},
	{
		//gofx:code passes/debug.NotRepeatable
		Code: "FX3082", Title: "pass does not repeat its result",
		Cause:   "the pass depends on the order of a map, on chance, or on an earlier run",
		Cure:    "make the pass depend on the graph alone",
		Example: "a pass that rewrites every second time it runs",
	},
	{
		//gofx:code passes/debug.EngineDiffers
		Code: "FX3083", Title: "engine and interpreter differ",
		Cause:   "a kernel or the engine's lowering of the graph is wrong; or the bounds are too tight for another order of sums",
		Cure:    "let debug.Compare, or fxgen compare, name the value; widen Numeric.Rel where the difference is rounding",
		Example: "debug.Fails(nil, passes.Options{}, engine) with an engine that returns zeros",
	},
	{
		//gofx:code passes/debug.BadCase
		Code: "FX3084", Title: "tensor of a case cannot be written or read",
		Cause:   "too many values matter to write them into a test, or the text was edited",
		Cure:    "make the tensor smaller in the source of the case, and write the case again",
		Example: `debug.Read("gofx 1 ...", debug.Tensors{"%x": "f32[2] AAAA"})`,
	},
	{
		//gofx:code passes/debug.NotComparable
		Code: "FX3085", Title: "forms of a model have nothing in common",
		Cause:   "no value of one has a counterpart in the other, by provenance, name or scope, or the inputs are different",
		Cure:    "compare forms of one model; the names of the inputs must be the same",
		Example: "debug.Compare of two networks",
	},
}
