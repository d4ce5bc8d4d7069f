package schedule

import (
	"context"
	"errors"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/tensor"
)

// Run interprets the graph as the schedule that it is: the host walks the nodes, each
// other resource is a goroutine that runs what was issued to it, in that order, and a
// wait blocks. Hooks of p see every node; p.Node is called on the goroutine of the
// node's resource. Values made elsewhere are kept until the run ends. Run reports what
// Check finds; of errors elsewhere it returns the first by the graph's order.
//
// The results are those of the Interpreter's own Run, which heeds no schedule.
//
// When ctx ends, the host stops at once; a node that runs elsewhere is waited for.
func Run(ctx context.Context, p *interp.Interpreter, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	g := p.State.Module.Graph
	if err := Check(g); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &runner{ctx: ctx, g: g, edges: depend(g), inner: p.Node, queues: map[Resource]chan job{}, futures: map[*graph.Node]*future{}}
	q := *p
	q.Node = r.node
	out, err := q.Run(ctx, inputs...)
	if err != nil {
		cancel() // what is queued elsewhere need not run
	}
	if failed := r.finish(); failed != nil {
		return nil, failed
	}
	return out, err
}

// runner is one run of a schedule, as the host sees it.
type runner struct {
	*edges
	ctx     context.Context
	g       *graph.Graph
	inner   interp.Hook
	queues  map[Resource]chan job
	futures map[*graph.Node]*future
	issued  []*future // in the graph's order
}

type step = func(in []interp.Result) (interp.Result, error)

// node is the hook of the host.
func (r *runner) node(n *graph.Node, in []interp.Result, next step) (interp.Result, error) {
	run := next
	if r.inner != nil {
		run = func(in []interp.Result) (interp.Result, error) { return r.inner(n, in, next) }
	}
	if n.Graph() != r.g { // a region's
		return run(in)
	}
	if resource(n) != Host {
		r.issue(n, in, run)
		if r.fixed[n] {
			r.drain() // sizes are about to be read off it, which others must not see
			return r.get(n)
		}
		return interp.Result{}, nil
	}
	for _, a := range r.after[n] {
		if _, err := r.get(a); err != nil {
			return interp.Result{}, err
		}
	}
	if waits(n) && r.futures[n.Arg(0)] != nil {
		v, err := r.get(n.Arg(0))
		if err != nil {
			return v, err
		}
		in[0] = v
	}
	v, err := run(in)
	if r.fixed[n] {
		r.drain()
	}
	return v, err
}

// get waits for what a node computes elsewhere, if it does; what panicked there
// panics here.
func (r *runner) get(n *graph.Node) (interp.Result, error) {
	f := r.futures[n]
	if f == nil {
		return interp.Result{}, nil
	}
	select {
	case <-f.done:
	case <-r.ctx.Done():
		return interp.Result{}, diag.Stop(r.ctx.Err())
	}
	if f.panic != nil {
		panic(f.panic)
	}
	return f.value, f.err
}

// issue hands a node to its resource, which is started where it has no work yet.
func (r *runner) issue(n *graph.Node, in []interp.Result, run step) {
	q := r.queues[resource(n)]
	if q == nil {
		q = make(chan job, r.g.Len()) // the host never waits for room
		r.queues[resource(n)] = q
		go func() {
			for j := range q {
				j.do(r.ctx)
			}
		}()
	}
	j := job{f: &future{done: make(chan struct{})}, n: n, in: append([]interp.Result(nil), in...), run: run, from: make([]*future, n.NumArgs())}
	for i := range j.from {
		if a := n.Arg(i); a != nil && r.futures[a] != nil {
			j.from[i] = r.futures[a]
			j.before = append(j.before, r.futures[a])
		}
	}
	for _, a := range r.after[n] {
		if f := r.futures[a]; f != nil {
			j.before = append(j.before, f)
		}
	}
	r.futures[n] = j.f
	r.issued = append(r.issued, j.f)
	q <- j
}

// drain waits until nothing runs elsewhere.
func (r *runner) drain() {
	for _, f := range r.issued {
		<-f.done
	}
}

// finish ends the goroutines and returns the first error of theirs.
func (r *runner) finish() error {
	for _, q := range r.queues {
		close(q)
	}
	r.drain()
	for _, f := range r.issued {
		if f.panic != nil {
			panic(f.panic)
		}
		if f.err != nil && !errors.Is(f.err, errSkipped) {
			return f.err
		}
	}
	return nil
}

// future is a value that a resource computes.
type future struct {
	done  chan struct{}
	value interp.Result
	err   error
	panic any
}

// job is a node on its way to a resource.
type job struct {
	f      *future
	n      *graph.Node
	in     []interp.Result
	from   []*future // of operands that others compute
	before []*future
	run    step
}

// errSkipped is the error of what was not run because something before it failed.
var errSkipped = errors.New("not run")

func (j *job) do(ctx context.Context) {
	defer close(j.f.done)
	for _, f := range j.before {
		if <-f.done; f.err != nil || f.panic != nil {
			j.f.err = errSkipped
			return
		}
	}
	if ctx.Err() != nil {
		j.f.err = errSkipped
		return
	}
	for i, f := range j.from {
		if f != nil {
			j.in[i] = f.value
		}
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *diag.Error:
			// As the interpreter says it of nodes that it runs itself.
			c := *e
			c.Pos, c.Node = j.n.Pos(), j.n.Name()
			j.f.err = &c
		default:
			j.f.panic = e
		}
	}()
	j.f.value, j.f.err = j.run(j.in)
	if e, ok := j.f.err.(*diag.Error); ok && e.Node == "" {
		c := *e
		c.Node = j.n.Name()
		j.f.err = c.At(j.n.Pos())
	}
}
