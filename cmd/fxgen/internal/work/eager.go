package work

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/codegen/certificate"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lazy/lazytest"
	"github.com/gofx-dev/gofx/passes/debug"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

var (
	tensorType  = reflect.TypeFor[*tensor.Tensor]()
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// eager calls the Go function itself. Arguments and results are packed as the
// tracer packs them: structs by their exported fields, maps by sorted keys.
func (c *captured) eager(ctx context.Context, in []*array.Array) (out []*array.Array, err error) {
	fn, err := c.function()
	if err != nil {
		return nil, err
	}
	err = exchange.Recover(func() error {
		results, err := callGo(ctx, fn, arguments{in: in, enter: tensor.New})
		out = unpacked(results)
		return err
	})
	return out, err
}

// callGo calls a function of tensors.
func callGo(ctx context.Context, fn reflect.Value, a arguments) (results []reflect.Value, err error) {
	var args []reflect.Value
	for i := range fn.Type().NumIn() {
		t := fn.Type().In(i)
		if t == contextType {
			args = append(args, reflect.ValueOf(&ctx).Elem())
			continue
		}
		v, err := a.value(t)
		if err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	if fn.Type().IsVariadic() {
		results = fn.CallSlice(args)
	} else {
		results = fn.Call(args)
	}
	for _, r := range results {
		if e, ok := r.Interface().(error); ok {
			return nil, e
		}
	}
	return results, nil
}

// unpacked are the arrays of results.
func unpacked(results []reflect.Value) []*array.Array {
	var list []any
	for _, r := range results {
		list = append(list, r.Interface())
	}
	return certificate.Unpack(list)
}

func (c *captured) function() (reflect.Value, error) {
	if c.module == nil {
		return reflect.ValueOf(c.src.Func), nil
	}
	method := c.src.Method
	if method == "" {
		method = "Forward"
	}
	fn := reflect.ValueOf(c.module).MethodByName(method)
	if !fn.IsValid() {
		return fn, diag.New(NoSymbol, c.src.Name+" has no method "+method)
	}
	return fn, nil
}

// arguments hands out inputs in order, as tensors that enter makes.
type arguments struct {
	in    []*array.Array
	enter func(*array.Array) *tensor.Tensor
	next  int
}

func (a *arguments) value(t reflect.Type) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	switch {
	case t == tensorType:
		if a.next < len(a.in) && a.in[a.next] != nil {
			v.Set(reflect.ValueOf(a.enter(a.in[a.next])))
		}
		a.next++
		return v, nil
	case t.Kind() == reflect.Pointer:
		inner, err := a.value(t.Elem())
		if err == nil {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(inner)
		}
		return v, err
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if !t.Field(i).IsExported() || !holdsTensor(t.Field(i).Type) {
				continue
			}
			x, err := a.value(t.Field(i).Type)
			if err != nil {
				return v, err
			}
			v.Field(i).Set(x)
		}
		return v, nil
	}
	return v, diag.New(BadEngine, "engines eager and lazy cannot make an argument of type "+t.String()).
		WithHint("use -engine interp or plan")
}

func holdsTensor(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return t == tensorType || t.Elem().Kind() == reflect.Struct && holdsTensor(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && t.Field(i).Type == tensorType {
				return true
			}
		}
	}
	return false
}

// inputsOnly is a graph of inputs alone: code that runs in a session is not captured, it may be
// what no trace describes.
func inputsOnly(name string, ins []Named) (*graph.Module, error) {
	g := graph.New(name)
	at := g.At()
	var errs diag.List
	for _, in := range ins {
		if in.Value == "" {
			errs.Add(diag.New(BadValue, "the input "+diag.Name(in.Name)+" has no type, which code that is not captured needs").
				WithHint("give it: -input '" + in.Name + "=f32[8]'"))
			continue
		}
		t, err := shape.ParseType(in.Value)
		if err != nil {
			errs.Add(badValue("-input "+in.Name+"="+in.Value, err))
			continue
		}
		n := at.Placeholder(in.Name, t, nil)
		for axis := range max(t.Rank(), 0) {
			if syms := t.Dim(axis).Symbols(); len(syms) == 1 && t.Dim(axis).Equal(shape.Sym(syms[0])) {
				if _, known := g.Symbol(syms[0]); !known {
					g.DefineSymbol(syms[0], n, axis)
				}
			}
		}
	}
	at.Output(nil)
	return graph.NewModule(g), errs.Err()
}

// outputNamesOf are names for results of code that was not captured.
func (s *Source) outputNamesOf(n int) []string {
	if len(s.Outputs) == n {
		return s.Outputs
	}
	names := make([]string, n)
	for i := range names {
		if names[i] = "output"; i > 0 {
			names[i] += "_" + strconv.Itoa(i)
		}
	}
	return names
}

// inSession calls the code of a source in a session. The results are read at one barrier.
func inSession(ctx context.Context, c *captured, s *lazy.Session, in []*array.Array) (out []*array.Array, err error) {
	fn, err := c.function()
	if err != nil {
		return nil, err
	}
	err = exchange.Recover(func() error {
		results, err := callGo(ctx, fn, arguments{in: in, enter: func(a *array.Array) *tensor.Tensor { return s.In(tensor.New(a)) }})
		if err == nil {
			err = s.Barrier()
		}
		if err == nil {
			out = unpacked(results)
		}
		return err
	})
	return out, err
}

// sessionOptions are those of all sessions. The code may be a step of training, which asks for
// gradients.
func sessionOptions(ctx context.Context, j *Job) lazy.Options {
	return lazy.Options{Rounding: j.Rounding, Threads: j.Threads, Context: ctx, Gradients: true, Donate: j.Donate}
}

// warmRuns are enough for graphs to be compiled.
const warmRuns = 4

// session is the runner of the engine lazy. For measuring times the session is warm.
func sessionOf(c *captured, j *Job) runner {
	s := lazy.New(sessionOptions(context.Background(), j))
	warm := j.Verb != Bench
	run := func(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
		for range warmRuns {
			if warm {
				break
			}
			if _, err := inSession(ctx, c, s, in); err != nil {
				return nil, err
			}
			s.Wait()
		}
		warm = true
		return inSession(ctx, c, s, in)
	}
	return runner{run: run, peak: noPeak, close: s.Close}
}

// explain runs the source in a session, and tells what the session did.
func explain(ctx context.Context, c *captured, j *Job, res *Result) error {
	if c.src.Graph != nil {
		return noCode(c)
	}
	in, _, err := c.values(j)
	if err != nil {
		return err
	}
	o := sessionOptions(ctx, j)
	o.Synchronous, o.Record = true, j.Graphs
	s := lazy.New(o)
	for range j.Repeat {
		if _, err := inSession(ctx, c, s, in); err != nil {
			return err
		}
	}
	if j.Graphs {
		if err := genGraphs(c, s, j, res); err != nil {
			return err
		}
	}
	if err := document(res, s.Explain()); err != nil {
		return err
	}
	return s.Close()
}

// bisectSession finds the call whose delay changes the source's results.
func bisectSession(ctx context.Context, c *captured, j *Job, res *Result) error {
	if c.src.Graph != nil {
		return noCode(c)
	}
	in, _, err := c.values(j)
	if err != nil {
		return err
	}
	eager, err := c.eager(ctx, in)
	if err != nil {
		return err
	}
	var failed error
	found, err := lazytest.Bisect(sessionOptions(ctx, j), func(s *lazy.Session) bool {
		out, err := inSession(ctx, c, s, in)
		if err == nil {
			var d *debug.Comparison
			if d, err = debug.CompareValues(resultsOf(out), resultsOf(eager), debug.CompareOptions{Rel: j.Rel, Abs: j.Abs}, nil); err == nil {
				return d.First() == nil
			}
		}
		failed = errors.Join(failed, err)
		return true // to come to an end
	})
	switch {
	case failed != nil:
		return failed
	case err != nil:
		return err
	case found == nil:
		return diag.New(debug.NothingFails, "the results in a session are those of eager code").WithHint("-rtol and -atol say how far they may be apart")
	}
	if found.At != "" {
		found.At = filepath.Base(found.At)
	}
	if j.JSON {
		return document(res, delayJSON{Model: c.src.Name, Call: found.Call, Calls: found.Calls, Op: found.Op, Pos: found.At, Runs: found.Tries})
	}
	res.Text = found.String() + "\n"
	return nil
}

// delayJSON is the document of bisect -engine lazy -json.
type delayJSON struct {
	Model string `json:"model"`
	Call  int    `json:"call"` // 0 where the results differ with each call computed by itself
	Calls int    `json:"calls"`
	Op    string `json:"op,omitempty"`
	Pos   string `json:"pos,omitempty"`
	Runs  int    `json:"runs"`
}

func resultsOf(out []*array.Array) (list []debug.Observation) {
	for i, a := range out {
		list = append(list, debug.Observation{Name: "output", Op: "output", Result: i + 1, Array: a})
	}
	return list
}

// noCode refuses to run a graph in a session.
func noCode(c *captured) error {
	return diag.New(BadEngine, c.src.Name+" is a graph, a session runs Go code").WithHint("name a function or a module of a package: ./pkg#Func")
}
