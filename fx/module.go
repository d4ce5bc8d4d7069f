package fx

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// GraphModule is a captured graph with its state, usable wherever a module is:
// it runs, can be a field of another model, and is traced through when that model
// is captured.
type GraphModule struct {
	*graph.Module
	state *interp.State
}

// NewGraphModule makes a module callable. Later edits and passes take effect from the
// next run on.
func NewGraphModule(m *graph.Module) *GraphModule {
	return &GraphModule{m, interp.NewState(m)}
}

// Run interprets the graph on the inputs, in the order of its placeholders (nil,
// or left out at the end, for one whose default is wanted), and returns its
// results in the order of the output node's operands: structs, slices and maps of
// results are not packed again. Inputs that do not fit what the graph was captured
// for are refused with FX1020 to FX1022. Runs may overlap unless the graph writes
// buffers.
//
// Run is the one to use in a program. RunArrays is for callers that hold arrays, Call and
// Forward are for models that contain the module: these panic, as layers do.
func (g *GraphModule) Run(ctx context.Context, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	p := interp.Interpreter{State: g.state}
	return p.Run(ctx, inputs...)
}

// RunArrays is Run for callers that hold arrays, such as readers of files; nil stands for an input whose default is wanted.
func (g *GraphModule) RunArrays(ctx context.Context, inputs []*array.Array) ([]*array.Array, error) {
	p := interp.Interpreter{State: g.state}
	return p.RunArrays(ctx, inputs)
}

// Call is Run inside a model that contains the module, with any number of inputs and
// results: it panics with *diag.Error as tensor calls do. Elsewhere use Run.
func (g *GraphModule) Call(inputs ...*tensor.Tensor) []*tensor.Tensor {
	out, err := g.Run(context.Background(), inputs...)
	if err != nil {
		panic(err)
	}
	return out
}

// Forward is Call for a graph with one input and one result, so that a
// GraphModule can stand where a layer does, in nn.Sequential for one. Elsewhere use Run.
func (g *GraphModule) Forward(x *tensor.Tensor) *tensor.Tensor { return g.Call(x)[0] }

// State returns the tensors and leaf modules of the graph.
func (g *GraphModule) State() *interp.State { return g.state }

// Walk lists the state under the module's own paths; see tensor.Walk.
func (g *GraphModule) Walk(visit func(tensor.Item) bool) { g.state.Walk(visit) }

// Option changes how Trace captures.
type Option func(*settings)

type settings struct {
	tracer tracer.Tracer
	steady tracer.Steadiness
	errs   diag.List
}

// Input describes the next tensor input: its name and its type in the text form,
// such as "f32[N,3,224,224]", "i64[B,S]" or "f32[*]"; an empty type is unknown.
// Names such as N stand for sizes of 0 and more that are known when the graph
// runs; the same name is the same size. Trace reports a type that cannot be read.
func Input(name, typ string) Option { return InputDefault(name, typ, nil) }

// InputDefault is Input with a default for runs that do not give the input. It is
// not copied; one of another type is refused when a run needs it (FX1022).
func InputDefault(name, typ string, def *array.Array) Option {
	return func(s *settings) {
		in := tracer.Input{Name: name, Default: def}
		if typ != "" {
			t, err := shape.ParseType(typ)
			if e, ok := err.(*diag.Error); ok {
				e.Op = "input " + name
			}
			s.errs.Add(err)
			in.Type = t
		}
		s.tracer.Inputs = append(s.tracer.Inputs, in)
	}
}

// Args gives example arguments by position, nil standing for the parameter's own
// type: tensors, also inside structs, slices and maps, become inputs of their
// type, every other value is fixed in the graph; those of a variadic parameter
// follow one by one. See tracer.Tracer.Args.
func Args(args ...any) Option { return func(s *settings) { s.tracer.Args = args } }

// Meta returns a tensor that has a type and no data, as an example for Args. It
// panics when the type does not parse.
func Meta(typ string) *tensor.Tensor {
	t, err := shape.ParseType(typ)
	if err != nil {
		panic(err)
	}
	return tracer.Meta(t)
}

// Root names the module, a pointer, whose fields give the paths of parameters, for
// functions that use a module. Without it the paths are made up.
func Root(m any) Option { return func(s *settings) { s.tracer.Root = m } }

// Method traces another method of the module than Forward; it must be exported.
func Method(name string) Option { return func(s *settings) { s.tracer.Method = name } }

// Name names the graph; without it the function or type does.
func Name(name string) Option { return func(s *settings) { s.tracer.Name = name } }

// Leaf decides which modules are recorded as one call; library tells that the
// module is a leaf of package nn. path is the module's, "layer1.0.conv1". A module
// of the user's own must be called by nn.Run to be asked about; as a leaf it is
// opaque, its results have no known type, and a graph with it runs only where the
// module is.
func Leaf(policy func(m any, path string, library bool) bool) Option {
	return func(s *settings) { s.tracer.IsLeaf = policy }
}

// Flat inlines library modules too: no call_module nodes, every parameter a
// get_attr node.
func Flat() Option { return Leaf(func(any, string, bool) bool { return false }) }

// Steady says how often Trace calls the function again to see that it gives the
// same graph; without it, once or, when the module holds maps, 160 times. A
// negative Times is never.
func Steady(s tracer.Steadiness) Option { return func(o *settings) { o.steady = s } }

// With edits the tracer itself, for policies that have no option of their own.
func With(edit func(*tracer.Tracer)) Option {
	return func(s *settings) {
		if edit != nil {
			edit(&s.tracer)
		}
	}
}

// Trace captures a function of tensors or a module (a pointer to a struct with a
// Forward method) by calling it on tensors without data: once, and again to see
// that it gives the same graph each time; see Steady. The graph shares the arrays
// of the module's parameters. All mistakes are returned at once as a
// diag.List, positioned in the user's source; there is no graph then.
func Trace(ctx context.Context, fn any, opts ...Option) (*GraphModule, error) {
	s := settings{tracer: tracer.Tracer{Gradients: gradients}}
	for _, o := range opts {
		if o != nil {
			o(&s)
		}
	}
	if err := s.errs.Err(); err != nil {
		return nil, err
	}
	m, err := s.tracer.TraceSteady(ctx, fn, s.steady)
	if err != nil {
		return nil, err
	}
	return NewGraphModule(m), nil
}
