package parity

import (
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/draw"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// in lists functions.
func in(f ...any) []any { return f }

var nodeSurface = []entry{
	{fx: "opcodes", in: in((*graph.Node).Opcode, graph.Opcode.String), how: "the same six"},
	{fx: "`target`", in: in((*graph.Node).Target, (*graph.Node).Op), how: "Op is the operator, however the call is spelt"},
	{fx: "checks of the constructor", in: in((*graph.Cursor).Function), how: "operands and attributes are checked against the operator's record, types are inferred"},
	{fx: "`args`", in: in((*graph.Node).Args, (*graph.Node).Arg, (*graph.Node).NumArgs), how: "operands are values; everything else is in the attributes"},
	{fx: "`args` assigned", in: in((*graph.Node).SetArgs), how: "users follow"},
	{fx: "`kwargs`", in: in((*graph.Node).Attrs, (*graph.Node).Operand), how: "a struct of the operator's type; an operand by its name"},
	{fx: "`users`", in: in((*graph.Node).Users, (*graph.Node).NumUses), how: "each user once, in order of first use; or the number of slots"},
	{fx: "`all_input_nodes`", in: in((*graph.Node).Inputs), how: "each operand once"},
	{fx: "`update_arg`", in: in((*graph.Node).SetArg)},
	{fx: "`insert_arg`", in: in((*graph.Node).InsertArg)},
	{fx: "`update_kwarg`", in: in((*graph.Node).SetAttrs), how: "the type is inferred again"},
	{fx: "`replace_input_with`", in: in((*graph.Node).ReplaceInput)},
	{fx: "`replace_all_uses_with`", in: in((*graph.Node).ReplaceUses, graph.CopyMeta), how: "with a filter; symbols move along; CopyMeta for side data"},
	{fx: "`prepend`, `append`", in: in((*graph.Node).Prepend, (*graph.Node).Append), how: "refused if the move would pass an operand, a size or an effect"},
	{fx: "`next`, `prev`", in: in((*graph.Node).Next, (*graph.Node).Prev)},
	{fx: "`<`", in: in((*graph.Node).Precedes), how: "O(1)"},
	{fx: "`name`", in: in((*graph.Node).Name, (*graph.Node).Rename), how: "unique; identity is the pointer"},
	{fx: "`type`", in: in((*graph.Node).Type, (*graph.Node).SetType, (*graph.Node).Infer), how: "shape and element type, inferred when the node is made"},
	{fx: "`meta`", in: in(graph.NewKey[int], graph.Key[int].Get, graph.Key[int].Set), how: "typed keys; NewInheritedKey for data that new nodes inherit"},
	{fx: "`stack_trace`", in: in((*graph.Node).Pos, (*graph.Node).Stack), how: "always there, resolved when printed"},
	{fx: "`nn_module_stack`", in: in((*graph.Node).Scope)},
	{fx: "`is_impure`", in: in((*graph.Node).Effect), how: "declared by the operator; unknown ones are effectful"},
	{fx: "`has_side_effect`", in: in(tensor.Wrap[func(*tensor.Tensor)], tensor.WrapPure[func(*tensor.Tensor)]), how: "a function of Wrap is effectful unless it is declared pure"},
	{fx: "`normalized_arguments`", none: "capture normalises: an operator has one form, named operands and all defaults filled in"},
	{fx: "`format_node`", in: in((*graph.Node).Text), how: "the line of the text form, which parses"},
	{fx: "`map_arg`, `map_aggregate`", none: "operands are a flat list: range over Args and set what changes with SetArg"},
	{fx: "immutable containers", none: "Args is a copy, attributes are plain structs whose lists are immutable handles"},
}

var graphSurface = []entry{
	{fx: "list of nodes", in: in((*graph.Graph).Nodes, (*graph.Graph).Backward, (*graph.Graph).All), how: "safe while nodes are erased and inserted; All goes into regions"},
	{fx: "`create_node`, `placeholder`, ...", in: in((*graph.Cursor).Placeholder, (*graph.Cursor).GetAttr, (*graph.Cursor).Function, (*graph.Cursor).Method, (*graph.Cursor).Module, (*graph.Cursor).Output)},
	{fx: "`inserting_before`, `inserting_after`", in: in((*graph.Graph).Before, (*graph.Graph).After, (*graph.Graph).At), how: "a cursor; its nodes have the node's position and scope"},
	{fx: "`erase_node`", in: in((*graph.Graph).Erase), how: "refused with the users' names"},
	{fx: "`node_copy`", in: in(graph.NewCopier, (*graph.Copier).Copy)},
	{fx: "`graph_copy`", in: in((*graph.Cursor).GraphCopy, (*graph.Cursor).Inline), how: "with a map of values, or with arguments"},
	{fx: "deep copy", in: in(graph.Clone, (*graph.Graph).Clone)},
	{fx: "`find_nodes`", in: in(graph.NewIndex, (*graph.Index).Calls, (*graph.Index).Targets, (*graph.Index).Named), how: "kept right under edits; Graph.Calls walks"},
	{fx: "`nodes`, `output_node`", in: in((*graph.Graph).Inputs, (*graph.Graph).Output, (*graph.Graph).First, (*graph.Graph).Last, (*graph.Graph).Find)},
	{fx: "`owning_module`", in: in((*graph.Graph).Module), how: "a graph belongs to one module at most"},
	{fx: "`eliminate_dead_code`", in: in(variable{"passes/simplify.DCE", simplify.DCE}), how: "by declared effects alone"},
	{fx: "`lint`", in: in(graph.Lint, graph.NewLinter, (*graph.Linter).Check), how: "all violations with codes, types and lists of uses too; Linter looks at the changes"},
	{fx: "`legalize_graph`", in: in((*graph.Graph).Sort, (*graph.Graph).SetOrder), how: "moves the fewest nodes, names a cycle; or your own order"},
	{fx: "`print_tabular`", in: in(draw.Table)},
	{fx: "`str(graph)`", in: in((*graph.Graph).String, graph.Print, graph.Parse), how: "parses back"},
	{fx: "`python_code`", in: in(codegen.Module), how: "Go source"},
	{fx: "`set_codegen`, `on_generate_code`", none: "generated code is not what runs a graph; a graph is changed, not its text"},
	{fx: "`process_inputs`, `process_outputs`", in: in((*graph.Node).Structure), how: "how the output packs its operands; generated code returns the packed form"},
	{fx: "events of nodes", in: in((*graph.Graph).Listen), how: "creation, erasure, replacement, and any other change"},
	{fx: "Proxy on a finished graph", in: in((*tracer.Tracer).Record, (*fx.GraphModule).Record), how: "tensor code at a cursor"},
	{fx: "module assigned, then `recompile`", in: in((*fx.GraphModule).ReplaceModule), how: "there is nothing to recompile: the graph is the program"},
	{fx: "edits that fail half way", in: in(graph.Edit, (*fx.GraphModule).Edit), how: "all or nothing"},
	{fx: "extraction of features", in: in(graph.Features, (*fx.GraphModule).Features, graph.Extract)},
	{fx: "`Interpreter`", in: in((*interp.Interpreter).Run), how: "hooks instead of methods to override"},
	{fx: "`Transformer`", in: in((*interp.Transformer).Run)},
}
