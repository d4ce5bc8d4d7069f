package lowering

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// Target is something that a graph is lowered to.
type Target interface {
	// Name is the short name that messages and flags use: "cpu".
	Name() string
	// Supports reports whether the target can run the node, by a rule of its own
	// or through the decomposition of its operator; if not, why.
	Supports(n *graph.Node) (ok bool, reason string)
	// Compile lowers the module, which it neither changes nor keeps, except for
	// the storages of its tensors. The error lists everything that stands in the
	// way, positioned.
	Compile(m *graph.Module, o Options) (Executable, error)
}

// Divided is a target with settings that are about a whole graph, such as bounds of its symbols.
type Divided interface {
	Target
	// Divide returns the target that a part of the graph gets, which Split makes: symbols of a
	// part are some of the graph's. The error is of settings that do not fit the graph.
	Divide(whole *graph.Module) (of func(part *graph.Module) Target, err error)
}

// Executable is a compiled graph. Run may be called from many goroutines.
type Executable interface {
	// Run computes the outputs for inputs in the order of the placeholders (nil
	// for one whose default is wanted). The inputs are read only and not kept; the
	// results are new arrays.
	Run(ctx context.Context, in []*array.Array) ([]*array.Array, error)
	// Close releases what the executable holds. Later runs fail with Closed.
	Close() error
}

// Options are the choices of a compilation; all of them belong to a cache's key.
type Options struct {
	// Shapes pins symbols to sizes; those that are missing stay symbolic.
	Shapes map[string]int
	// Outputs are the operands of the output node to compute, in that order; nil
	// means all.
	Outputs []int
	// Donate are the inputs whose memory the target may overwrite: a run leaves
	// anything in it, or what was there. Results never lie in an array that is given up; a
	// Value is closed by the run, see Resident.
	Donate []int
	// Into are results that are made in the memory of inputs: a run returns the array of the input,
	// with the result in it, and leaves that of a run that fails as it was. Such an
	// input is given up as one of Donate is, and need not be named there.
	Into []Into
	// Threads is the most threads of one run, at most MaxThreads; 0 leaves it to the target.
	Threads int
	// Exact asks for the bits that the interpreter gives, of inputs that lie in memory in
	// order: sums in the order of the operators' own kernels, copies where the graph has them. Weights
	// are packed where that changes no order. Without it a target may round otherwise, within the
	// bounds that its kernels state.
	Exact bool
	// Weights is the element type, array.F16 or array.BF16, that the weights of
	// products are rounded to when they are loaded, for models whose time is that of
	// reading them; the zero value leaves them as they are.
	Weights array.DType
	// Products is the element type, array.BF16, that operands of convolutions of f32, and of products with a
	// matrix on the right, are rounded to where the weight does not change; sums and everything else stay f32. It is faster
	// where the processor multiplies pairs of bf16 (Granted of lowering/cpu.Executable says what a plan
	// does) and has the same values elsewhere, within the bound of
	// kernel.LinearPacked. The zero value leaves operands as they are.
	Products array.DType
	// Measure grants a target of the processor to measure, where implementations of a step are close by
	// their estimates, which one is fastest on this machine, and to take that. Results then differ
	// between machines, within the bounds of the kernels. With Exact it changes nothing.
	Measure Measure
	// MaxBytes is the most memory that a value of the graph, all intermediate values
	// together, or the scratch memory of a step may take, at compilation where sizes are
	// numbers, else in the run; the error has code array.CodeTooLarge. 0 stands for
	// array.MaxBytes, which no run passes whatever is asked for here. Weights count only
	// where they are computed: a file has as many as it has bytes. Who compiles models of
	// other people sets it.
	MaxBytes int64
}

// Measure says what may be measured when a graph is compiled, and where choices are kept. The zero value
// measures nothing: rules choose, from sizes and caches.
type Measure struct {
	On bool // without it the other fields mean nothing
	// Stored takes choices that are kept, and measures nothing.
	Stored bool
	// Budget is the most time that a compilation measures for; 0 stands for MeasureBudget. A step that is
	// not measured in that time keeps the rules' choice.
	Budget time.Duration
	// Folder is where choices are kept, by machine, threads, version and step, so that later programs
	// choose alike and measure nothing: as UserFolder("cpu", Folder) reads it. "-" keeps them in the process alone.
	Folder string
}

// MeasureBudget is the time that a compilation measures for, where Measure.Budget says nothing.
const MeasureBudget = 200 * time.Millisecond

// key is what Options.Key has of it.
func (m Measure) key() string {
	if !m.On {
		return ""
	}
	return ";measure " + strconv.FormatBool(m.Stored) + " " + m.Budget.String() + " " + strconv.Quote(m.Folder)
}

// MostBytes is what MaxBytes stands for: at most array.MaxBytes.
func (o Options) MostBytes() int64 {
	if most := array.MaxBytes(); o.MaxBytes <= 0 || o.MaxBytes > most {
		return most
	}
	return o.MaxBytes
}

// Key returns a text that two options have in common exactly when they ask for
// the same.
func (o Options) Key() string {
	var out strings.Builder
	for _, s := range o.symbols() {
		out.WriteString(s + "=" + strconv.Itoa(o.Shapes[s]) + ";")
	}
	list := func(name string, l []int) {
		out.WriteString(name)
		for _, i := range l {
			out.WriteString(" " + strconv.Itoa(i))
		}
		out.WriteByte(';')
	}
	if o.Outputs != nil {
		list("outputs", o.Outputs)
	}
	into := slices.Clone(o.Into)
	slices.SortFunc(into, func(a, b Into) int { return a.Result - b.Result })
	for _, p := range into {
		list("into", []int{p.Result, p.Input})
	}
	donate := slices.Clone(o.Donate)
	slices.Sort(donate)
	list("donate", slices.Compact(donate))
	out.WriteString("threads " + strconv.Itoa(o.Threads) + ";exact " + strconv.FormatBool(o.Exact) + ";weights " + o.Weights.String() + ";products " + o.Products.String() + ";bytes " + strconv.FormatInt(o.MaxBytes, 10) + o.Measure.key())
	return out.String()
}

// ForPart returns what a part of a graph that Prepare has seen is compiled with: all options but
// those that name symbols, results and inputs of the whole.
func (o Options) ForPart() Options {
	o.Shapes, o.Outputs, o.Donate, o.Into = nil, nil, nil, nil
	return o
}

func (o Options) symbols() []string {
	names := make([]string, 0, len(o.Shapes))
	for s := range o.Shapes {
		names = append(names, s)
	}
	slices.Sort(names)
	return names
}

// MaxThreads bounds Options.Threads: each thread has scratch memory of its own.
const MaxThreads = 1 << 12

// Check reports every option that does not fit the module.
func (o Options) Check(module *graph.Module) error {
	var errs diag.List
	bad := func(msg, hint string) { errs = append(errs, diag.New(BadOption, msg).WithHint(hint)) }
	for _, s := range o.symbols() {
		if _, ok := module.Graph.Symbol(s); !ok {
			errs = append(errs, NoSymbol(module.Graph, s, "is pinned"))
		} else if n := o.Shapes[s]; n < 0 {
			bad("symbol "+s+" is pinned to "+strconv.Itoa(n)+", expected a size", "sizes are not negative")
		}
	}
	within := func(what string, list []int, n int) {
		for _, i := range list {
			if i < 0 || i >= n {
				bad(what+" "+strconv.Itoa(i)+" is asked for, the graph has "+strconv.Itoa(n), "count from 0")
			}
		}
	}
	if out := module.Graph.Output(); out != nil {
		within("output", o.Outputs, out.NumArgs())
	}
	if w := o.Weights; w != array.Invalid && w != array.F16 && w != array.BF16 {
		bad("weights are to be "+w.String()+", expected f16 or bf16", "leave the option out for weights as they are")
	} else if w != array.Invalid && o.Exact {
		bad("Exact cannot be combined with Weights: "+w.String(), "leave out one of the two")
	}
	if p := o.Products; p != array.Invalid && p != array.BF16 {
		bad("operands of products are to be rounded to "+p.String()+", expected bf16", "leave the option out for products as they are")
	} else if p != array.Invalid && (o.Exact || o.Weights != array.Invalid) {
		bad("Products: bf16 cannot be combined with Exact or Weights", "leave out one of the two")
	}
	if o.Measure.Budget < 0 {
		bad("the budget for measuring is "+o.Measure.Budget.String()+", expected a time that is not negative", "0 stands for "+MeasureBudget.String())
	}
	if o.MaxBytes < 0 {
		bad("at most "+strconv.FormatInt(o.MaxBytes, 10)+" bytes are allowed, expected a number that is not negative", "0 stands for array.MaxBytes")
	}
	within("donated input", o.Donate, len(module.Graph.Inputs()))
	errs = append(errs, o.checkInto(module.Graph)...)
	if o.Threads < 0 || o.Threads > MaxThreads {
		bad(strconv.Itoa(o.Threads)+" threads, expected 0 to "+strconv.Itoa(MaxThreads), "0 leaves the number to the target")
	}
	return errs.Err()
}

// NoSymbol is the diagnostic of a setting for a symbol that a graph does not have: what says
// how the setting names it ("is pinned").
func NoSymbol(g *graph.Graph, name, what string) *diag.Error {
	hint := "all sizes of the graph are numbers: leave the setting out"
	if list := g.Symbols(); len(list) > 0 {
		known := make([]string, len(list))
		for i, s := range list {
			known[i] = s.Name
		}
		hint = "symbols of the graph: " + strings.Join(known, ", ")
	}
	return diag.New(BadOption, "symbol "+strconv.Quote(name)+" "+what+", the graph has no such symbol").WithHint(hint)
}

// Query lists every node of the graph and its regions that the target cannot run,
// each with the reason; nil when it can run all.
func Query(t Target, g *graph.Graph) diag.List {
	var l diag.List
	for n := range g.All() {
		if !n.Opcode().IsCall() {
			continue
		}
		if ok, why := t.Supports(n); !ok {
			l = append(l, Refuse(n, t.Name(), why))
		}
	}
	l.Sort()
	return l
}

// Refuse returns the error of a node that the target cannot run, at the call that the node
// comes from.
func Refuse(n *graph.Node, target, why string) *diag.Error {
	name := "module " + n.Target()
	if o := n.Op(); o != nil {
		name = o.Key()
		if s := SourceOf(n); s.Op != "" && s.Op != o.Name {
			name, why = s.Op, joined("it is made of "+name, why)
		}
	}
	if why != "" {
		why = ": " + why
	}
	return At(n, Unsupported, "target "+target+" cannot run "+name+why).
		WithHint("give the target a rule for it, or let another one run it (lowering.Split)")
}

// At starts a diagnostic about the call that a node comes from (SourceOf).
func At(n *graph.Node, code diag.Code, msg string) *diag.Error {
	e, s := n.Error(code, msg), SourceOf(n)
	e.Node, e.Op = s.Node, s.Op
	return e
}
