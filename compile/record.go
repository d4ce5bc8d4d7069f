package compile

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/tensor"
)

// record is a call that can be made again.
type record struct {
	guard  *state.Guard
	stores *state.Replay
	got    *lazy.Captured
	text   string // of the graph
	calls  int    // in it
	run    lowering.Executable
	outs   int          // results of the graph
	users  atomic.Int32 // the bucket, and calls that run the graph
	proven atomic.Bool  // a second call has shown that it makes new objects
	words  []state.Word // of the call that was recorded
	sizes  []state.Sized
	open   *opened         // the numbers that are inputs, nil for none
	thawed map[string]bool // tensors that the graph reads though it could take them for constants
}

// leave closes the graph once nobody uses it.
func (r *record) leave() {
	if r.users.Add(-1) == 0 {
		r.run.Close()
	}
}

// record makes the record of a call.
func (c *core) record(image *state.Image, replay *state.Replay, got *lazy.Captured, open *opened, thawed map[string]bool) (*record, *state.Refusal) {
	run, err := c.opts.target.Compile(got.Module, c.opts.lower)
	if err != nil {
		return nil, &state.Refusal{Why: "the target refuses the graph: " + err.Error()}
	}
	var writes []int
	for _, w := range got.Writes {
		writes = append(writes, w.Tensor)
	}
	r := &record{stores: replay, got: got, text: got.Module.String(), calls: calls(got), outs: len(got.Results), run: run, words: image.Words(), sizes: image.Sizes(), open: open, thawed: thawed}
	r.guard = image.Guard(writes, replay.Caps(), r.paths(), open.symbols())
	r.users.Store(1)
	r.proven.Store(replay.Proven())
	return r, nil
}

// paths are those of the numbers that are inputs.
func (r *record) paths() map[string]bool {
	if r.open == nil {
		return nil
	}
	return r.open.paths
}

// reads are the data tensors that the graph reads.
func (r *record) reads() []int {
	return slices.DeleteFunc(slices.Clone(r.got.Reads), func(t int) bool { return t < 0 })
}

// values computes what the graph does for a call whose guard was checked. ok is false where that fails.
func (r *record) values(k *call) (out []*array.Array, ok bool) {
	if r.outs == 0 {
		return nil, true
	}
	in := make([]*array.Array, len(r.got.Reads), len(r.got.Reads)+len(k.numbers.calls))
	for i, t := range r.got.Reads {
		if t < 0 {
			in[i] = k.numbers.leaves[^t]
			continue
		}
		in[i] = lazy.Laid(r.array(k, t))
	}
	in = append(in, k.numbers.calls...)
	out, err := r.run.Run(context.Background(), in)
	return out, err == nil
}

func (r *record) array(k *call, i int) *array.Array {
	return r.guard.Tensor(&k.machine, i).Value().(*array.Array)
}

// replay does what the call would do. It does nothing where it returns false.
func (r *record) replay(k *call) (ok bool) {
	out, ok := r.values(k)
	if !ok {
		return false
	}
	taken := make([]bool, len(out))
	value := func(v lazy.CapturedValue) *array.Array {
		switch {
		case v.Result < 0 && v.Tensor < 0:
			return array.Clone(v.Array)
		case v.Result < 0:
			return array.Clone(r.array(k, v.Tensor))
		case taken[v.Result]:
			return array.Clone(out[v.Result])
		}
		taken[v.Result] = true
		return out[v.Result]
	}
	written := make([]*array.Array, len(r.got.Writes))
	for i, w := range r.got.Writes {
		written[i] = value(w.Value)
	}
	tensors := make([]*tensor.Tensor, len(r.got.Found))
	bases := make([]*array.Array, len(r.got.Found))
	for i := range r.got.Found {
		switch f := &r.got.Found[i]; {
		case f.Memory >= 0:
			bases[i] = r.array(k, f.Memory)
		case f.Like >= 0:
			bases[i] = bases[f.Like]
		default:
			bases[i] = value(f.Value)
		}
		tensors[i] = r.tensor(i, bases[i])
	}
	for i, w := range r.got.Writes {
		r.guard.Tensor(&k.machine, w.Tensor).AssignInPlace(tensor.Owned(written[i]))
	}
	r.stores.Apply(&k.machine, tensors)
	return true
}

// tensor makes a tensor that was found.
func (r *record) tensor(i int, base *array.Array) *tensor.Tensor {
	f := &r.got.Found[i]
	x := tensor.Owned(f.Show(base))
	if f.Param {
		x.MarkParam()
	}
	if f.Frozen {
		x.Freeze(true)
	}
	return x
}

// forecast computes what the graph says of a call before the function runs, nil without a record.
func (r *record) forecast(k *call) []*array.Array {
	if r == nil {
		return nil
	}
	out, ok := r.values(k)
	if !ok {
		return nil
	}
	return out
}

// compared says how a record that fits a call differs from what the function did, "" where it does not, or where there is none. Values are
// compared where the graph's are exact.
func (r *record) compared(now *record, why *state.Refusal, forecast []*array.Array, exact bool) string {
	switch {
	case r == nil:
		return ""
	case why != nil:
		return "a record fits the call, but no record can be made of it: " + why.Why
	case r.open == nil && r.text != now.text || r.open.rolled() && !r.open.follows(now) || !r.open.rolled() && !r.fits(now):
		return "a record fits the call, but the function computes another graph:\n" + now.text + "the record has\n" + r.text
	case !r.open.rolled() && !slices.Equal(r.reads(), now.got.Reads) || !r.stores.Same(now.stores):
		return "a record fits the call, but the function stores something else"
	case exact && !slices.EqualFunc(forecast, now.got.Results, array.Equal):
		return "a record fits the call, but the function computes other values"
	case !r.proven.Load() && !r.stores.Prove(now.stores):
		return "a result or store leads to memory that was there before the call, and that the table does not lead to"
	}
	r.proven.Store(true)
	return ""
}

// calls counts the calls of a graph.
func calls(got *lazy.Captured) (n int) {
	for node := range got.Module.Graph.Nodes() {
		if node.Opcode() == graph.CallFunction || node.Opcode() == graph.CallMethod {
			n++
		}
	}
	return n
}
