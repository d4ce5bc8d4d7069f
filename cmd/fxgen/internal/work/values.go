package work

import (
	"maps"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/shape"
)

// feed holds the values for the inputs of a graph.
type feed struct {
	job   *Job
	graph *graph.Graph
	model *models.Model

	files map[string]*array.Array
	dims  map[string]int                     // sizes of symbols
	open  func(symbol string, usual int) int // chooses those that nothing gives; may be nil
}

// values makes the inputs of a run in the order of the placeholders: those of -in,
// else synthetic ones, else nil where the input has a default.
func (c *captured) values(j *Job) ([]*array.Array, map[string]int, error) {
	if c.src.values != nil {
		return c.src.values, nil, nil
	}
	f := &feed{job: j, graph: c.gm.Graph, model: c.src.Model, files: map[string]*array.Array{}, dims: map[string]int{}}
	if err := f.known(); err != nil {
		return nil, nil, err
	}
	var errs diag.List
	if err := f.sizes(); err != nil {
		return nil, nil, err
	}
	var out []*array.Array
	for _, n := range f.graph.Inputs() {
		a, err := f.value(n)
		errs.Add(err)
		out = append(out, a)
	}
	return out, f.dims, errs.Err()
}

// known refuses flags for inputs that do not exist, all of them.
func (f *feed) known() error {
	var names []Named
	have := map[string]bool{}
	for _, n := range f.graph.Inputs() {
		names = append(names, Named{Name: n.Target()})
		have[n.Target()] = true
	}
	var errs diag.List
	for _, list := range [][]Named{f.job.In, f.job.Shapes} {
		for _, in := range list {
			if !have[in.Name] {
				errs.Add(unknownInput(in.Name, names))
			}
		}
	}
	return errs.Err()
}

func lookup(list []Named, name string) (string, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Name == name {
			return list[i].Value, true
		}
	}
	return "", false
}

// sizes binds the symbols: by -shape, then by the shapes of files, then by the
// sizes of the entry's reference, else 1, or the nearest size that fits the
// guards.
func (f *feed) sizes() error {
	ramp := false
	for _, n := range f.graph.Inputs() {
		v, given := lookup(f.job.In, n.Target())
		ramp = ramp || given && v == "ramp"
		if text, ok := lookup(f.job.Shapes, n.Target()); ok {
			dims, err := parseShape(text)
			if err == nil {
				err = f.bind(n, dims)
			}
			if err != nil {
				return badValue("-shape "+n.Target()+"="+text, err)
			}
		}
		if given && (IsFile(v) || areNumbers(v)) {
			a, err := f.read(n, v)
			if err != nil {
				return err
			}
			f.files[n.Target()] = a
			if f.bind(n, a.Shape()) != nil {
				continue // the engine reports sizes that do not fit
			}
		}
	}
	given := maps.Clone(f.dims)
	for _, s := range f.graph.Symbols() {
		if _, ok := f.dims[s.Name]; ok {
			continue
		}
		f.dims[s.Name] = 1
		if f.model != nil && !ramp && f.model.Dims[s.Name] > 0 {
			f.dims[s.Name] = f.model.Dims[s.Name]
		}
		if f.open != nil {
			f.dims[s.Name] = f.open(s.Name, f.dims[s.Name])
		}
	}
	if f.open == nil {
		f.admit(given)
	}
	return nil
}

// admit changes the sizes of inputs that nothing gives where the guards need others: a
// network that halves its pictures five times takes none of one pixel. If no sizes are
// found, they stay, and the engine reports the broken guards.
func (f *feed) admit(given map[string]int) {
	sizes := map[string]int{}
	for _, s := range f.graph.Symbols() {
		if _, fixed := given[s.Name]; !fixed && s.Node.Opcode() == graph.Placeholder {
			sizes[s.Name] = f.dims[s.Name]
		}
	}
	relations := f.graph.Relations().Bind(func(name string) shape.Dim {
		if n, fixed := given[name]; fixed {
			return shape.Const(n)
		}
		return shape.Sym(name)
	})
	if relations.Admit(sizes) {
		maps.Copy(f.dims, sizes)
	}
}

// read is the value of an input from a file, or of the numbers that are given.
func (f *feed) read(n *graph.Node, v string) (*array.Array, error) {
	if IsFile(v) {
		return readValue(Named{n.Target(), v})
	}
	a, err := numbers(v, n.Type())
	if err != nil {
		return nil, badValue("-in "+n.Target()+"="+v, err)
	}
	return a, nil
}

func parseShape(text string) ([]int, error) {
	dims := []int{}
	if strings.TrimSpace(text) == "" {
		return dims, nil
	}
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 || n > 1<<40 {
			return nil, diag.New(BadValue, part+" is no size").WithHint("write sizes with commas between them: 1,128")
		}
		dims = append(dims, n)
	}
	return dims, nil
}

// bind gives the symbols of an input's type the sizes of a shape.
func (f *feed) bind(n *graph.Node, dims []int) error {
	t := n.Type()
	if t.Kind() != shape.Tensor || !t.Ranked() {
		return nil
	}
	if t.Rank() != len(dims) {
		return diag.New(BadValue, strconv.Itoa(len(dims))+" sizes, the input is "+t.String())
	}
	for i, d := range t.Dims().Slice() {
		name, ok := d.IsSymbol()
		if want, fixed := d.Int(); fixed && want != dims[i] {
			return diag.New(BadValue, "size "+strconv.Itoa(dims[i])+" on axis "+strconv.Itoa(i)+", the input is "+t.String())
		}
		if !ok {
			continue
		}
		if old, bound := f.dims[name]; bound && old != dims[i] {
			return diag.New(BadValue, name+" is "+strconv.Itoa(dims[i])+" here and "+strconv.Itoa(old)+" before")
		}
		f.dims[name] = dims[i]
	}
	return nil
}

// value makes one input.
func (f *feed) value(n *graph.Node) (*array.Array, error) {
	name := n.Target()
	v, given := lookup(f.job.In, name)
	if a := f.files[name]; a != nil {
		return a, nil
	}
	if !given {
		if n.Default() != nil {
			return nil, nil
		}
		v = "synthetic:" + f.job.seed()
	}
	flag := "-in " + name + "=" + v
	d, dims, err := f.shapeOf(n)
	if err != nil {
		return nil, badValue(flag, err)
	}
	if v == "ramp" {
		if n, ok := array.NumElems(dims); !ok || n > maxRamp {
			return nil, diag.New(BadValue, flag+": more than "+strconv.Itoa(maxRamp)+" elements")
		}
		return ramp(d, dims), nil
	}
	seed, ok := strings.CutPrefix(v, "synthetic:")
	if !ok {
		return nil, diag.New(BadValue, flag+": unknown kind of value").WithHint("give FILE.npy, FILE.pb, numbers such as 2,3, ramp or synthetic:SEED")
	}
	x, err := models.SyntheticInput(models.InputSpec{Name: name, Type: shape.TensorType(d, shape.ConstDims(dims...)).String(), Rule: f.rule(name, d)}, seed, nil)
	if err != nil {
		return nil, badValue(flag, err)
	}
	return x.Array(), nil
}

// rule is how a synthetic input is made: the entry's rule, else uniform floats
// and the integers 0 and 1, which are valid indices of every table.
func (f *feed) rule(name string, d array.DType) models.InputRule {
	if f.model != nil {
		for _, in := range f.model.Inputs {
			if in.Name == name {
				return in.Rule
			}
		}
	}
	if d.IsFloat() {
		return models.Uniform{}
	}
	return models.Integers{High: 2}
}

// shapeOf returns the sizes of an input under the symbols' values.
func (f *feed) shapeOf(n *graph.Node) (array.DType, []int, error) {
	t := n.Type()
	text, given := lookup(f.job.Shapes, n.Target())
	if t.Kind() != shape.Tensor || t.DType() == array.Invalid || !t.Ranked() {
		d := array.F32
		if t.Kind() == shape.Tensor && t.DType() != array.Invalid {
			d = t.DType()
		}
		if !given {
			return 0, nil, diag.New(BadValue, "the type of input "+n.Target()+" is not known").
				WithHint("declare it with -input '" + n.Target() + "=f32[N,8]', or give a file")
		}
		dims, err := parseShape(text)
		return d, dims, err
	}
	dims := make([]int, t.Rank())
	if given {
		got, err := parseShape(text)
		return t.DType(), got, err
	}
	for i, d := range t.Dims().Slice() {
		size, err := d.Eval(func(s string) (int, bool) { v, ok := f.dims[s]; return v, ok })
		if err != nil {
			if d.IsUnknown() {
				size = 1
			} else {
				return 0, nil, err
			}
		}
		dims[i] = size
	}
	return t.DType(), dims, nil
}

const maxRamp = 1 << 28

// ramp counts: float elements are their index less 1.5, integers their index
// modulo 7.
func ramp(d array.DType, dims []int) *array.Array {
	a := array.New(d, dims...)
	for i := range a.Len() {
		v := float64(i) - 1.5
		if !d.IsFloat() {
			v = float64(i % 7)
		}
		array.SetFloat64At(a, i, v)
	}
	return a
}
