package parity

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// complaint is something that users of torch.fx complain of: the remedy here and the
// rows that show it, or why it cannot come up.
type complaint struct {
	topic string
	how   string
	rows  []string
	none  bool
}

// complaints are those of the inventory, in its order.
var complaints = []complaint{
	{topic: "branch and loop on values", how: "`tensor.Cond`, `While` and `Scan` are nodes with bodies; a Go branch on data is refused at its line and told of them", rows: []string{"31b", "24"}},
	{topic: "branch on constants of the model", how: "sizes of parameters are numbers; what a capture fixed is listed; writes to state are nodes", rows: []string{"16", "29", "31", "104b"}},
	{topic: "sizes in factory calls", how: "sizes are expressions, taken wherever an operator takes a size", rows: []string{"12", "129", "135b"}},
	{topic: "device and element type burnt in", how: "a graph has no device; element types follow the operands, numbers have none", rows: []string{"135e"}},
	{topic: "leaf and wrap mechanism", how: "what is kept whole is a value given to the capture, or declared with the function", rows: []string{"10", "11", "13"}},
	{topic: "\"not installed as submodule\"", how: "a layer that is no field gets a path of its own", rows: []string{"18", "18b"}},
	{topic: "dead-code elimination removes needed writes", how: "operators declare effects, writes are values or nodes that stay", rows: []string{"90", "104b", "104c", "105c", "106b"}},
	{topic: "stale code after an edit", how: "the graph is what runs", rows: []string{"44f", "74c"}},
	{topic: "rewriter corrupts arguments", how: "matches are applied one by one on a copy that is checked; what fails leaves the module as it was", rows: []string{"44e", "91b", "92", "99", "113b"}},
	{topic: "matcher is strict", how: "one operator a meaning; patterns have alternatives, options, any order, repetition, predicates", rows: []string{"23", "94a", "94b", "96", "97", "99", "100", "101"}},
	{topic: "cost of matching", how: "rules are looked up by their root, matching is memoised, a search ends at a limit that the report tells", rows: []string{"97b"}},
	{topic: "metadata lost", how: "types are part of nodes and inferred again; line, scope and keys are inherited", rows: []string{"34", "45b", "62", "89d", "102", "108a", "165"}},
	{topic: "bugs of splitting", how: "one outlining with a checked interface, and its inverse", rows: []string{"118a", "118c", "118d", "120", "121b", "122"}},
	{topic: "order of the inputs of fused modules", how: "values by first use, then parameters", rows: []string{"118b"}},
	{topic: "order that changes from run to run", how: "no output depends on the order of a map; hashes do not see names", rows: []string{"69b", "27"}},
	{topic: "sorting disturbs the graph", how: "the fewest nodes move; a cycle is named", rows: []string{"44d"}},
	{topic: "saving by tracing again", how: "structure, types, lines and tensors are written, and read back equal", rows: []string{"26", "30", "59c", "62", "75"}},
	{topic: "copies drop attributes", how: "keys are typed, copies have them; no recursion", rows: []string{"52a", "53", "58", "79"}},
	{topic: "clashes of names", how: "identity is the pointer, names are made unique and are never evaluated", rows: []string{"42a", "42b", "26"}},
	{topic: "thread safety", how: "a capture has no global state; a module is run by many goroutines", rows: []string{"38b", "80"}},
	{topic: "growth of memory", how: "plain data, no type or code is made at run time", rows: []string{"38c", "49"}},
	{topic: "limits of recursion", how: "traversals are loops", rows: []string{"52a", "104d"}},
	{topic: "nested graphs ignored", how: "passes go into bodies and sub-graphs, texts nest", rows: []string{"69", "105e"}},
	{topic: "untyped arguments", how: "operands are nodes, attributes a struct of the operator's type", rows: []string{"51", "56"}},
	{topic: "ambiguous forms of a call", how: "capture normalises: named operands, all defaults filled in", rows: []string{"2", "23", "96", "105b", "108a"}},
	{topic: "errors without a place", how: "each node has its lines; errors have node, operator, line and cure; printers take any graph", rows: []string{"14b", "34", "59d", "71", "88", "107c"}},
	{topic: "cost of capturing stacks", how: "return addresses, resolved when printed; a tracer may record none", rows: []string{"34", "38"}},
	{topic: "cost of lint", how: "a linter looks at what has changed and says what a full one says", rows: []string{"55a", "55c", "55h"}},
	{topic: "cost of the partitioner", how: "parts are proposed and cut in one go, in linear time", rows: []string{"118e", "121c"}},
	{topic: "errors of symbolic shapes", how: "a contradiction cites both lines; a guard knows its origin; a branch on an open size is refused at its line", rows: []string{"107c", "128", "128b", "130", "131"}},
	{topic: "cost of symbolic arithmetic", how: "sizes have one canonical form each; guards that follow from others are not kept", rows: []string{"116", "132", "133"}},
	{topic: "quantisation settings ignored", how: "a plan tells of each operator who asked, what is granted and why not; strict refuses", rows: []string{"142", "144", "145", "176"}},
	{topic: "fusion hides layers", how: "rules and exclusions hold for what layers have become; the plan comes before the change", rows: []string{"136", "142", "143"}},
	{topic: "placement of observers", how: "values with equal parameters are found first, conversions are put at the edges", rows: []string{"148", "153", "157", "160", "161"}},
	{topic: "models that are not calibrated, or in the wrong mode", how: "refused; training mode is a reason in the plan", rows: []string{"136", "162", "170"}},
	{topic: "slow observers", how: "one histogram in linear time, the same for every division into batches", rows: []string{"171"}},
	{topic: "finding the bad layer", how: "signal over noise of each value, what each operator harms, mixed precision within a budget", rows: []string{"176", "177"}},
	{topic: "folding loses the interface", how: "inputs, the structure of results and lines stay; a limit on what is stored", rows: []string{"106a", "106b", "106c"}},
	{topic: "drawing", how: "DOT, tables and pages of whatever names", rows: []string{"59b", "59d", "59e"}},
	{topic: "finding the pass that broke the program", how: "each pass is checked, by lint and by numbers, dumped, compared, and named", rows: []string{"124a", "124b", "124c", "113b", "113d", "114"}},
	{topic: "accidental behaviour is relied upon", how: "what is promised is a row here or in the documents; the rest is drawn at random in tests", rows: []string{"105d", "118d"}},
}

// numComplaints is the number of complaints in the inventory.
const numComplaints = 41

func TestComplaints(t *testing.T) {
	require.Len(t, complaints, numComplaints)
	tested := map[string]bool{}
	for _, s := range table() {
		for _, r := range s.rows {
			tested[r.id] = r.test != nil
		}
	}
	for i, c := range complaints {
		require.Equal(t, c.none, len(c.rows) == 0, "complaint %d is shown by rows, or cannot come up", i+1)
		require.NotEmpty(t, c.how, "complaint %d", i+1)
		for _, id := range c.rows {
			require.True(t, tested[id], "complaint %d: no test has the row %s", i+1, id)
		}
	}
}

func complaintsPage(b *strings.Builder) {
	b.WriteString("\n## Complaints of users\n\n| | complaint | here | shown by |\n|---|---|---|---|\n")
	for i, c := range complaints {
		rows := strings.Join(c.rows, ", ")
		if c.none {
			rows = "cannot come up"
		}
		fmt.Fprintf(b, "| %d | %s | %s | %s |\n", i+1, cell(c.topic), cell(c.how), rows)
	}
}
