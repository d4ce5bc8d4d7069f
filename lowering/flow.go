package lowering

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// flow is a run of Pieces. The interpreter goes through the graph and begins the parts, which
// run next to it: those of one target one after the other, those of two targets at once. Where
// the sizes of a part's results are known, the interpreter goes on with headers, whose
// elements come when something on the host asks for them.
type flow struct {
	e      *Pieces
	caller context.Context
	ctx    context.Context // ends with the first error, too
	stop   context.CancelFunc
	sizes  map[string]int
	turns  [2]sync.Mutex // of the targets
	jobs   []*job
	acted  *job                    // the last one that acts on the world
	from   map[*array.Array]result // headers without elements
}

// job is a run of a part.
type job struct {
	p      *piece
	in     []operand
	after  *job           // acts on the world before it does
	want   []*array.Array // headers of the results, nil where they are not known
	done   chan struct{}  // closed when err or the results are set
	err    error
	values []*kept
}

// operand is an array of the host, or a result of another part.
type operand struct {
	host *array.Array
	result
}

type result struct {
	job  *job
	item int
}

// kept is a result: on the device, on the host, or both.
type kept struct {
	value Value
	once  sync.Once
	array *array.Array
	err   error

	mu   sync.Mutex
	left int // operands of parts to come
}

// begin starts a part, and waits for it where the sizes of its results follow from it.
func (f *flow) begin(p *piece, in []interp.Result) (interp.Result, error) {
	j := &job{p: p, done: make(chan struct{})}
	for _, v := range in {
		a := v.T.Array()
		if r, ok := f.from[a]; ok {
			j.in = append(j.in, operand{result: r})
		} else {
			j.in = append(j.in, operand{host: a})
		}
	}
	f.jobs = append(f.jobs, j)
	if p.acts {
		j.after, f.acted = f.acted, j
	}
	headers, ok := f.headers(p)
	j.want = headers
	go f.run(j)
	if !ok {
		<-j.done
		if j.err != nil {
			return interp.Result{}, j.err
		}
		headers = make([]*array.Array, len(j.values))
		for i, k := range j.values {
			headers[i] = headerOf(k.value.Type())
		}
	}
	tensors := make([]*tensor.Tensor, len(headers))
	for i, h := range headers {
		f.from[h], tensors[i] = result{j, i}, tensor.New(h)
	}
	if !p.tuple {
		return interp.Result{T: tensors[0]}, nil
	}
	return interp.Result{Tuple: tensors}, nil
}

// headers returns those of a part's results, not ok where a size is not known before.
func (f *flow) headers(p *piece) (list []*array.Array, ok bool) {
	types := []shape.Type{p.call.Type()}
	if p.tuple {
		if types[0].Kind() != shape.Tuple || types[0].Len() != p.results {
			return nil, false
		}
		types = types[:0]
		for i := range p.results {
			types = append(types, p.call.Type().Member(i))
		}
	}
	for _, t := range types {
		if t.Kind() != shape.Tensor || !t.Ranked() || t.DType() == array.Invalid {
			return nil, false
		}
		dims := make([]int, t.Rank())
		for i := range dims {
			n, err := t.Dim(i).Eval(func(s string) (int, bool) { n, ok := f.sizes[s]; return n, ok })
			if err != nil || n < 0 {
				return nil, false
			}
			dims[i] = n
		}
		list = append(list, empty(t.DType(), dims))
	}
	return list, true
}

// empty returns a header without elements.
func empty(d array.DType, dims []int) *array.Array {
	a := &array.Array{}
	a.Reset(d, dims)
	return array.Make(d, a.Shape(), a.Strides(), 0, array.NewStorage(0))
}

func headerOf(t shape.Type) *array.Array {
	d, dims, _ := t.Concrete() // a value has sizes
	return empty(d, dims)
}

// run runs a part when its operands are there.
func (f *flow) run(j *job) {
	defer close(j.done)
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*diag.Error)
			if !ok {
				e = diag.Bug(fmt.Sprint("target ", j.p.target, " panics: ", r)).WithHint("look into the target, and into the functions of yours that it calls")
			}
			j.err = inPart(j.p.name, j.p.target, e)
		}
		if j.err != nil {
			f.stop()
		}
	}()
	for _, o := range j.in {
		if o.job == nil {
			continue
		}
		if <-o.job.done; o.job.err != nil {
			j.err = o.job.err
			return
		}
	}
	if j.after != nil {
		if <-j.after.done; j.after.err != nil {
			j.err = j.after.err
			return
		}
	}
	turn := &f.turns[0]
	if j.p.moves {
		turn = &f.turns[1]
	}
	turn.Lock()
	defer turn.Unlock()
	if err := f.ctx.Err(); err != nil {
		j.err = diag.Stop(err)
		return
	}
	if err := f.compute(j); err != nil {
		j.err = inPart(j.p.name, j.p.target, err)
		return
	}
	for _, o := range j.in {
		if o.job != nil {
			o.kept().used()
		}
	}
	j.p.runs.Add(1)
}

// compute runs the part on values where these stay on its device, else on arrays.
func (f *flow) compute(j *job) error {
	p := j.p
	if p.resident == nil {
		args := make([]*array.Array, len(j.in))
		for i, o := range j.in {
			var err error
			if args[i], err = f.host(o); err != nil {
				return err
			}
			f.counted(p, o)
		}
		out, err := p.exe.Run(f.ctx, args)
		if err != nil {
			return err
		}
		if i := slices.Index(out, nil); i >= 0 {
			return absent(i)
		}
		if p.moves {
			count(&f.e.valuesOut, &f.e.bytesOut, out...)
		}
		for i, a := range out {
			j.values = append(j.values, &kept{value: Host(a), array: a, left: p.usesOf(i)})
		}
	} else {
		args := make([]Value, len(j.in))
		for i, o := range j.in {
			if o.job == nil {
				args[i] = Host(o.host)
			} else {
				args[i] = o.kept().value
			}
			f.counted(p, o)
		}
		out, err := p.resident.RunValues(f.ctx, args)
		for i, v := range out {
			if v == nil {
				err = cmp.Or(err, absent(i))
				continue
			}
			j.values = append(j.values, &kept{value: v, left: p.usesOf(i)})
		}
		if err != nil {
			return err
		}
	}
	if len(j.values) != p.results {
		return diag.New(BadOutput, fmt.Sprintf("the target gave %d results, expected %d", len(j.values), p.results))
	}
	for i, h := range j.want {
		if is, want := j.values[i].value.Type(), shape.TypeOf(h); !is.Same(want) {
			return diag.New(BadOutput, fmt.Sprintf("result %d of the target is %s, expected %s", i, is, want))
		}
	}
	return nil
}

// absent is the error of a target, which may be a user's, that leaves a result out.
func absent(i int) error {
	return diag.New(BadOutput, fmt.Sprintf("result %d of the target is missing", i)).WithHint("Run gives an array, RunValues a value, for each result, or an error")
}

// counted counts an operand that goes to the first target.
func (f *flow) counted(p *piece, o operand) {
	if !p.moves {
		return
	}
	switch {
	case o.job == nil:
		count(&f.e.valuesIn, &f.e.bytesIn, o.host)
	case o.job.p.resident == nil || p.resident == nil || !o.job.p.moves:
		count(&f.e.valuesIn, &f.e.bytesIn, headerOf(o.kept().value.Type()))
	}
}

func (r result) kept() *kept { return r.job.values[r.item] }

// host returns an operand's elements.
func (f *flow) host(o operand) (*array.Array, error) {
	if o.job == nil {
		return o.host, nil
	}
	k := o.kept()
	k.once.Do(func() {
		if k.array != nil {
			return
		}
		if k.array, k.err = k.value.Array(f.ctx); k.err == nil && o.job.p.moves {
			count(&f.e.valuesOut, &f.e.bytesOut, k.array)
		}
	})
	return k.array, k.err
}

// used ends a use by a part; the last one ends the value, where the host has none.
func (k *kept) used() {
	k.mu.Lock()
	k.left--
	last := k.left == 0
	k.mu.Unlock()
	if last {
		_ = k.value.Close() // what that reports has no one to be told to
	}
}

// force gives values their elements, for what runs on the host.
func (f *flow) force(values ...interp.Result) error {
	for _, v := range values {
		list := v.Tuple
		if v.T != nil {
			list = append(list[:len(list):len(list)], v.T)
		}
		for _, t := range list {
			if t == nil {
				continue
			}
			if err := f.fill(t.Array()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *flow) fill(header *array.Array) error {
	r, ok := f.from[header]
	if !ok {
		return nil
	}
	if <-r.job.done; r.job.err != nil {
		return r.job.err
	}
	a, err := f.host(operand{result: r})
	if err != nil {
		return inPart(r.job.p.name, r.job.p.target, err)
	}
	a.Storage().Expose() // as tensor.New does
	*header = *a
	return nil
}

// settle waits for the parts that have begun, and returns the error of the first that failed:
// they may read, as operands or views of such, the state that a call is going to write, or act
// on the world before it does.
func (f *flow) settle() (err error) {
	for _, j := range f.jobs {
		if <-j.done; err == nil {
			err = j.err
		}
	}
	return err
}

// end waits for all parts, and gives back what they left on the device.
func (f *flow) end() {
	f.stop()
	for _, j := range f.jobs {
		<-j.done
		for _, k := range j.values {
			_ = k.value.Close() // what that reports has no one to be told to
		}
	}
}

// failed is the first error of a part, in the order of the graph: those that follow from it,
// because it ended the run, are none.
func (f *flow) failed(err error) error {
	for _, j := range f.jobs {
		if <-j.done; j.err != nil && f.own(j.err) {
			return j.err
		}
	}
	return err
}

// own reports whether an error is another than that the run was stopped for one.
func (f *flow) own(err error) bool {
	return f.caller.Err() != nil || !errors.Is(err, diag.Stopped) && !errors.Is(err, context.Canceled)
}

// sizesOf reads the sizes that inputs give to symbols.
func sizesOf(g *graph.Graph, in []*array.Array) map[string]int {
	sizes := map[string]int{}
	inputs := g.Inputs()
	for _, s := range g.Symbols() {
		for i, n := range inputs {
			if n != s.Node {
				continue
			}
			var a *array.Array
			if i < len(in) {
				a = in[i]
			}
			if a == nil {
				a, _ = n.Default().(*array.Array)
			}
			if a != nil && s.Axis < a.Rank() {
				sizes[s.Name] = a.Dim(s.Axis)
			}
		}
	}
	return sizes
}
