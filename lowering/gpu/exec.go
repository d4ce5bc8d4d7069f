package gpu

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/shape"
)

// MaxSizes is how many programs an executable keeps for the sizes that it has been run with; the
// one that was used longest ago is given up for another.
const MaxSizes = 8

// Executable runs a graph on a device. Runs may come from many goroutines; each has memory
// and a queue of its own. Kernels know their sizes: a graph with symbols is lowered once for
// each sizes that it is run with.
type Executable struct {
	target  Target
	device  *Device
	ready   *graph.Module // prepared
	inputs  []*graph.Node
	symbols []graph.Symbol // of the inputs

	mu     sync.Mutex
	sized  []*sized // used last, last
	closed bool
	runs   sync.WaitGroup
	stats  Stats
}

type sized struct {
	sizes []int
	once  sync.Once
	p     *program
	err   error
	users int
	drop  bool // given up: closed when nobody runs it
}

// Stats describes an executable.
type Stats struct {
	Lowered  int // how often the graph was lowered for sizes
	Launches int // kernels of a run of what was used last
	Kernels  int // different ones
	Compiled int // of them, by the driver
	Cached   int // of them, from the cache on disk or of the device
	Expanded int // calls of the graph that run as what they are expanded into
	Setup    int // launches that were made once
	Arena    int // bytes of the device for the values of a run
	Fixed    int // bytes of weights and what is made of them
}

// compile prepares the module, and lowers it where all sizes are known.
func (t Target) compile(m *graph.Module, o lowering.Options) (*Executable, error) {
	d, err := t.device()
	if err != nil {
		return nil, err
	}
	if o.Exact || o.Weights != array.Invalid {
		what := "the interpreter's bits"
		if !o.Exact {
			what = "weights rounded to " + o.Weights.String()
		}
		return nil, diag.New(lowering.BadOption, "target gpu does not give "+what).WithHint("leave the option out, or compile for the cpu target")
	}
	ready, err := lowering.Prepare(m, o)
	if err != nil {
		return nil, err
	}
	e := &Executable{target: t, device: d, ready: ready, inputs: ready.Graph.Inputs()}
	var late diag.List
	for _, s := range ready.Graph.Symbols() {
		if s.Node.Opcode() == graph.Placeholder {
			e.symbols = append(e.symbols, s)
		} else {
			late = append(late, s.Node.Error(lowering.UnknownSize, "size "+s.Name+" is found when "+s.Node.String()+" runs, the target needs it before").
				WithHint("let another target run the call (lowering.Split)"))
		}
	}
	if len(late) > 0 {
		return nil, late
	}
	if len(e.symbols) > 0 {
		return e, e.supported()
	}
	s, err := e.enter(nil)
	if err != nil {
		return nil, err
	}
	defer e.leave(s)
	return e, s.err
}

// supported reports every call that cannot be lowered whatever the sizes are.
func (e *Executable) supported() error {
	return lowering.Query(e.target, e.ready.Graph).Err()
}

// Device returns the device that runs it.
func (e *Executable) Device() *Device { return e.device }

// Stats returns what the executable has become, for the sizes that were used last.
func (e *Executable) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	if len(e.sized) > 0 {
		if p := e.sized[len(e.sized)-1].p; p != nil {
			p.count(&s)
		}
	}
	return s
}

func (p *program) count(s *Stats) {
	s.Launches, s.Setup, s.Arena, s.Fixed = 0, 0, p.arena, 0
	names := map[string]bool{}
	for _, st := range p.build.steps {
		if names[st.kernel.Name] = true; st.setup {
			s.Setup++
		} else {
			s.Launches++
		}
	}
	s.Kernels, s.Compiled, s.Cached, s.Expanded = len(names), 0, len(names), p.expanded
	if p.built {
		s.Compiled, s.Cached = len(names), 0
	}
	for _, b := range p.fixed {
		if b != nil {
			s.Fixed += b.Bytes()
		}
	}
}

// Run implements lowering.Executable. Inputs of any layout are accepted; missing ones, other
// element types, ranks or sizes, and broken guards are errors with the codes of package interp
// (FX1020 to FX1022). An error of code Lost ends the use of the device.
func (e *Executable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	given, err := e.given(in)
	if err != nil {
		return nil, err
	}
	sizes, err := e.bind(given)
	if err != nil {
		return nil, err
	}
	s, err := e.enter(sizes)
	if err != nil {
		return nil, err
	}
	defer e.leave(s)
	if s.err != nil {
		return nil, s.err
	}
	for i, n := range s.p.inputs {
		if err := interp.CheckInput(n, shape.TypeOf(given[i])); err != nil {
			return nil, err
		}
	}
	return s.p.run(ctx, given)
}

// given returns the inputs with defaults in place of those that are missing.
func (e *Executable) given(in []*array.Array) ([]*array.Array, error) {
	if len(in) > len(e.inputs) {
		return nil, diag.New(interp.ExtraInput, strconv.Itoa(len(in))+" inputs, the graph takes "+strconv.Itoa(len(e.inputs)))
	}
	out := make([]*array.Array, len(e.inputs))
	copy(out, in)
	for i, n := range e.inputs {
		if out[i] == nil {
			out[i], _ = n.Default().(*array.Array)
		}
		if out[i] == nil {
			return nil, n.Error(interp.MissingInput, "input "+strconv.Quote(n.Target())+" is missing")
		}
		if err := interp.CheckInput(n, shape.TypeOf(out[i])); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bind returns the sizes of the symbols, and checks the guards for them.
func (e *Executable) bind(in []*array.Array) ([]int, error) {
	at := func(name string) (diag.SizeOf, bool) {
		for _, s := range e.symbols {
			if i := slices.Index(e.inputs, s.Node); s.Name == name {
				return diag.SizeOf{Symbol: name, Input: s.Node.Target(), Axis: s.Axis, Value: in[i].Dim(s.Axis)}, true
			}
		}
		return diag.SizeOf{}, false
	}
	sizes := make([]int, len(e.symbols))
	for i, s := range e.symbols {
		size, _ := at(s.Name)
		sizes[i] = size.Value
	}
	for _, g := range e.ready.Graph.Guards() {
		if c, err := g.Check(at); err != nil {
			return nil, err
		} else if c != nil {
			return nil, interp.Refusal(c, g.Node, "")
		}
	}
	return sizes, nil
}

// enter returns what runs for the sizes, lowered when it is new; leave follows.
func (e *Executable) enter(sizes []int) (*sized, error) {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, diag.New(lowering.Closed, "the executable is closed, expected an open one").WithHint("compile the module again")
	}
	k := slices.IndexFunc(e.sized, func(s *sized) bool { return slices.Equal(s.sizes, sizes) })
	var s *sized
	if k < 0 {
		s = &sized{sizes: sizes}
		if len(e.sized) == MaxSizes {
			e.giveUp(e.sized[0])
			e.sized = e.sized[1:]
		}
		e.stats.Lowered++
	} else {
		s = e.sized[k]
		e.sized = slices.Delete(e.sized, k, k+1)
	}
	e.sized = append(e.sized, s)
	s.users++
	e.runs.Add(1)
	e.mu.Unlock()
	s.once.Do(func() { s.p, s.err = e.lower(sizes) })
	if s.err != nil {
		e.forget(s)
	}
	return s, nil
}

// forget has the next run for the sizes try again: a device may be short of memory for a while.
func (e *Executable) forget(s *sized) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sized = slices.DeleteFunc(e.sized, func(k *sized) bool { return k == s })
}

// lower makes the program for the sizes.
func (e *Executable) lower(sizes []int) (*program, error) {
	ready := e.ready.WithGraph(e.ready.Graph.Clone())
	if len(sizes) > 0 {
		o := lowering.Options{Shapes: map[string]int{}}
		for i, s := range e.symbols {
			o.Shapes[s.Name] = sizes[i]
		}
		var err error
		if ready, err = lowering.Prepare(ready, o); err != nil {
			return nil, err
		}
	}
	return e.target.newProgram(ready, e.device)
}

func (e *Executable) leave(s *sized) {
	e.mu.Lock()
	if s.users--; s.users == 0 && s.drop && s.p != nil {
		s.p.close()
	}
	e.mu.Unlock()
	e.runs.Done()
}

// giveUp closes what nobody runs, now or when the last run ends.
func (e *Executable) giveUp(s *sized) {
	if s.drop = true; s.users == 0 && s.p != nil {
		s.p.close()
	}
}

// Close waits for runs in progress and gives the memory of the device back; the device stays
// open. Closing again does nothing.
func (e *Executable) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.runs.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sized {
		e.giveUp(s)
	}
	e.sized = nil
	return nil
}

// String describes the executable in a line.
func (s Stats) String() string {
	return strings.Join([]string{
		strconv.Itoa(s.Launches) + " launches of " + strconv.Itoa(s.Kernels) + " kernels (" + strconv.Itoa(s.Compiled) + " compiled, " + strconv.Itoa(s.Cached) + " cached)",
		strconv.Itoa(s.Expanded) + " calls expanded",
		strconv.Itoa(s.Setup) + " launches once",
		strconv.Itoa(s.Arena) + " bytes of values",
		strconv.Itoa(s.Fixed) + " bytes of weights",
	}, ", ")
}
