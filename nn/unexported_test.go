package nn_test

import (
	"container/list"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func param(v ...float32) *tensor.Tensor { return tensor.Param(array.FromSlice(v)) }

// twoLayers is the usual Go way to write a model.
type twoLayers struct{ fc1, fc2 *nn.Linear }

func (m *twoLayers) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.fc2.Forward(m.fc1.Forward(x).Relu())
}

// held keeps layers in all kinds of places.
type held struct {
	list  []*nn.Linear
	named map[string]nn.Module
	byID  map[int]*nn.Linear
	pair  [2]nn.Linear
	any   any
	anys  []any
	act   nn.Module
	inner bag
	tags  *nn.Linear     `fx:"renamed"`
	stat  *tensor.Tensor `fx:",buffer"`
	left  *nn.Linear     `fx:"-"`
}

type bag struct{ w *tensor.Tensor }

func (m *held) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = m.named["b"].Forward(m.named["a"].Forward(m.list[1].Forward(m.list[0].Forward(x))))
	x = m.byID[10].Forward(m.byID[9].Forward(m.pair[1].Forward(m.pair[0].Forward(x))))
	x = m.act.Forward(m.anys[0].(*nn.Linear).Forward(m.any.(*nn.Linear).Forward(x)))
	return m.left.Forward(m.tags.Forward(x.Mul(m.inner.w))).Add(m.stat)
}

func newHeld() *held {
	l := func() *nn.Linear { return nn.NewLinear(2, 2, nn.NoBias()) }
	return &held{list: []*nn.Linear{l(), l()}, named: map[string]nn.Module{"b": l(), "a": l()}, byID: map[int]*nn.Linear{10: l(), 9: l()},
		pair: [2]nn.Linear{*l(), *l()}, any: l(), anys: []any{l(), "text", nil}, act: nn.NewDropout(0.5), inner: bag{param(2, 3)}, tags: l(), stat: param(1, 1), left: l()}
}

// derived keeps what it computed from its weights.
type derived struct {
	w, wt, norm *tensor.Tensor
	lazy        *tensor.Tensor
}

func (m *derived) Forward(x *tensor.Tensor) *tensor.Tensor {
	if m.lazy == nil {
		m.lazy = m.w.MulScalar(2)
	}
	return x.Matmul(m.wt).Mul(m.norm).Add(m.lazy.Sum())
}

func newDerived() *derived {
	w := tensor.Param(array.FromSlice([]float32{1, 2, 3, 4}, 2, 2))
	return &derived{w: w, wt: w.T(), norm: w.Mul(w).Sum().Sqrt()}
}

// base is embedded, as subclasses are made in PyTorch.
type base struct {
	fc   *nn.Linear
	Gain *tensor.Tensor
}

type child struct {
	base
	*extra
	head *nn.Linear
}

type extra struct{ bias *tensor.Tensor }

func (m *child) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.head.Forward(m.fc.Forward(x).Mul(m.Gain).Add(m.bias))
}

// tree is a module with parents and siblings.
type tree struct {
	up   *tree
	kids []*tree
	w    *tensor.Tensor
}

func (m *tree) Forward(x *tensor.Tensor) *tensor.Tensor {
	x = x.Mul(m.w)
	for _, k := range m.kids {
		x = k.Forward(x)
	}
	return x
}

// busy has fields of other packages, which must be left alone.
type busy struct {
	fc    *nn.Linear
	mu    sync.Mutex
	once  sync.Once
	calls atomic.Int64
	cell  atomic.Value
	pool  sync.Pool
	memo  sync.Map
	when  time.Time
	ctx   context.Context
	log   *slog.Logger
	db    *sql.DB
	web   *http.Client
	queue *list.List
	wake  chan *tensor.Tensor
	hook  func(x *tensor.Tensor)
	err   error
	out   fmt.Stringer
	raw   any
}

func (m *busy) Forward(x *tensor.Tensor) *tensor.Tensor {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.once.Do(func() { m.pool.Put(&m.when) })
	m.calls.Add(1)
	m.cell.Store(m.calls.Load())
	m.memo.Store("calls", m.calls.Load())
	m.queue.PushBack(m.calls.Load())
	return m.fc.Forward(x)
}

func newBusy() *busy {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &busy{fc: nn.NewLinear(2, 2, nn.NoBias()), when: time.Now(), ctx: ctx, log: slog.Default(), db: &sql.DB{}, web: http.DefaultClient,
		queue: list.New(), wake: make(chan *tensor.Tensor), hook: func(*tensor.Tensor) {}, err: context.Canceled, out: time.Second, raw: &http.Server{Addr: "x"}}
}

func newChild() *child {
	return &child{base{nn.NewLinear(2, 2), param(2)}, &extra{param(1, 2)}, nn.NewLinear(2, 1)}
}

func newTree() *tree {
	root := &tree{w: param(2)}
	root.kids = []*tree{{up: root, w: param(3)}, {up: root, w: param(4)}}
	return root
}

func TestUnexportedFieldsAreState(t *testing.T) {
	require.Equal(t, []string{"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}, names(&twoLayers{nn.NewLinear(2, 3), nn.NewLinear(3, 1)}))
	require.Equal(t, 2*3+3+3+1, nn.NumParameters(&twoLayers{nn.NewLinear(2, 3), nn.NewLinear(3, 1)}))
	require.Equal(t, []string{"list.0.weight", "list.1.weight", "named.a.weight", "named.b.weight", "by_id.9.weight", "by_id.10.weight",
		"pair.0.weight", "pair.1.weight", "any.weight", "anys.0.weight", "inner.w", "renamed.weight", "stat*"}, names(newHeld()))
	require.Equal(t, []string{"fc.weight", "fc.bias", "gain", "bias", "head.weight", "head.bias"}, names(newChild()))
	require.Equal(t, []string{"kids.0.w", "kids.1.w", "w"}, names(newTree()))
	require.Equal(t, []string{"fc.weight"}, names(newBusy()))
	require.Equal(t, []string{"w"}, names(newDerived()), "what is computed from parameters is no state")
}

func TestUnexported_computedTensorsBecomeStateByWrites(t *testing.T) {
	m := newDerived()
	m.w.AssignInPlace(m.w.MulScalar(2))
	require.Equal(t, []string{"w"}, names(m), "the parameter was loaded; a view of it and a stale value are no state")
	m.norm.AddScalarInPlace(1)
	require.Equal(t, []string{"w", "norm"}, names(m))
	m = newDerived()
	m.norm.MarkParam()
	require.Equal(t, []string{"w", "norm"}, names(m))
	require.Equal(t, []string{"a", "b"}, names(&struct{ a, b *tensor.Tensor }{tensor.Zeros(2), tensor.FromSlice([]float32{1})}), "made of nothing is state")
}

// models of unexported state with their inputs' width.
func unexported() map[string]nn.Module {
	return map[string]nn.Module{"plain": &twoLayers{nn.NewLinear(2, 3), nn.NewLinear(3, 1)}, "held": newHeld(), "derived": newDerived(),
		"child": newChild(), "tree": newTree(), "busy": newBusy()}
}

func TestUnexportedStateIsTracedSavedAndLoaded(t *testing.T) {
	ctx := context.Background()
	x := tensor.FromSlice([]float32{1, -2, 3, 4}, 2, 2)
	for name, m := range unexported() {
		want := m.Forward(x)
		gm, err := fx.Trace(ctx, m, fx.Input("x", "f32[N,2]"))
		require.NoError(t, err, name)
		got, err := gm.Run(ctx, x)
		require.NoError(t, err, name)
		require.True(t, want.Equal(got[0]), name)
		var paths []string
		for _, p := range gm.Params() {
			paths = append(paths, p.Path)
		}
		if name != "held" { // whose field left is no state
			require.ElementsMatch(t, names(m), paths, name)
		}
		require.Equal(t, nn.NumParameters(m) > 0, len(paths) > 0, name)

		file := filepath.Join(t.TempDir(), "m.safetensors")
		require.NoError(t, nn.SaveFile(file, m, nil), name)
		fresh := unexported()[name]
		for _, e := range nn.StateDict(fresh) {
			nn.Constant(e.Tensor, 7)
		}
		require.NoError(t, nn.LoadFile(fresh, file), name)
		for i, e := range nn.StateDict(m) {
			require.True(t, e.Tensor.Equal(nn.StateDict(fresh)[i].Tensor), "%s %s", name, e.Name)
		}
	}
}

func TestTrainingModeReachesUnexportedModules(t *testing.T) {
	m := newHeld()
	nn.Train(m)
	require.True(t, m.act.(*nn.Dropout).Training)
	nn.Eval(m)
	require.False(t, m.act.(*nn.Dropout).Training)
}

// TestWalksAndRunsDoNotRace is for -race: a walk reads what leads to tensors alone.
func TestWalksAndRunsDoNotRace(t *testing.T) {
	m := newBusy()
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(2)
		go func() {
			defer wg.Done()
			for range 50 {
				m.Forward(param(1, 2).Reshape(1, 2))
			}
		}()
		go func() {
			defer wg.Done()
			for range 50 {
				nn.NumParameters(m)
			}
		}()
	}
	wg.Wait()
}

type key struct{ a, b int }

func TestStateWithoutNamesIsRefused(t *testing.T) {
	type oddly struct {
		nets map[key]*nn.Linear
		Fc   *nn.Linear
	}
	odd := &oddly{map[key]*nn.Linear{{a: 1, b: 2}: nn.NewLinear(1, 1)}, nn.NewLinear(1, 1)}
	file := filepath.Join(t.TempDir(), "m.safetensors")
	require.ErrorIs(t, nn.SaveFile(file, odd, nil), tensor.NoName)
	require.NoFileExists(t, file)
	require.ErrorIs(t, nn.LoadStateDict(odd, nn.Arrays{}), tensor.NoName)
	odd.nets = nil
	require.NoError(t, nn.SaveFile(file, odd, nil), "an empty map loses nothing")

	type twice struct {
		Fc *nn.Linear
		fc *nn.Linear
	}
	same := &twice{nn.NewLinear(1, 1), nn.NewLinear(1, 1)}
	require.ErrorIs(t, nn.SaveFile(file, same, nil), tensor.SameName)
	require.ErrorIs(t, nn.LoadFile(same, file), tensor.SameName)
	same.fc = same.Fc
	require.NoError(t, nn.SaveFile(file, same, nil), "one tensor under one name")
}

func TestWeightsThatFitNothingAreRefused(t *testing.T) {
	w := nn.Arrays{"other.weight": array.New(array.F32, 1)}
	for _, m := range []any{nn.NewReLU(), nn.NewLinear(1, 1), &struct{ f func() }{}} {
		require.ErrorIs(t, nn.LoadStateDict(m, w, nn.NotStrict()), nn.NoWeightFits)
		require.Error(t, nn.LoadStateDict(m, w))
	}
	require.NoError(t, nn.LoadStateDict(nn.NewReLU(), nn.Arrays{}))
}

type pairOf struct {
	A *tensor.Tensor
	b *tensor.Tensor
}

type packs struct{}

func (packs) Forward(x *tensor.Tensor) pairOf { return pairOf{x.Neg(), x.Relu()} }

// TestUnexportedTensorsInArgumentsAndResultsAreRefused: they would be baked, or lost.
func TestUnexportedTensorsInArgumentsAndResultsAreRefused(t *testing.T) {
	ctx := context.Background()
	add := func(p pairOf) *tensor.Tensor { return p.A.Add(p.b) }
	_, err := fx.Trace(ctx, add, fx.Args(pairOf{param(1), param(2)}))
	require.ErrorIs(t, err, tracer.BadArgument)
	type secret struct{ b *tensor.Tensor }
	_, err = fx.Trace(ctx, func(x *tensor.Tensor, s *secret) *tensor.Tensor { return x.Add(s.b) }, fx.Args(nil, &secret{param(2)}))
	require.ErrorIs(t, err, tracer.BadArgument)
	_, err = fx.Trace(ctx, func(x *tensor.Tensor) pairOf { return pairOf{x.Neg(), x.Relu()} })
	require.ErrorIs(t, err, tracer.BadResult)
	require.Panics(t, func() { nn.RunAll(&packs{}, param(1)) })
}

// The programs of this list put tensors into their fields, which a graph cannot.
type keeper struct {
	w, last *tensor.Tensor
	seen    map[string]*tensor.Tensor
	do      func(m *keeper, x *tensor.Tensor) *tensor.Tensor
}

func (m *keeper) Forward(x *tensor.Tensor) *tensor.Tensor { return m.do(m, x) }

func TestTensorsPutIntoFieldsAreReported(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		do  func(m *keeper, x *tensor.Tensor) *tensor.Tensor
		bad bool
	}{
		"keeps a result":   {func(m *keeper, x *tensor.Tensor) *tensor.Tensor { m.last = x.Neg(); return x }, true},
		"keeps the input":  {func(m *keeper, x *tensor.Tensor) *tensor.Tensor { m.last = x; return x.Neg() }, true},
		"keeps by name":    {func(m *keeper, x *tensor.Tensor) *tensor.Tensor { m.seen["x"] = x.Neg(); return x }, true},
		"replaces":         {func(m *keeper, x *tensor.Tensor) *tensor.Tensor { m.w = m.w.AddScalar(1); return x.Mul(m.w) }, false},
		"replaces by data": {func(m *keeper, x *tensor.Tensor) *tensor.Tensor { m.w = param(9); return x.Mul(m.w) }, true},
		"removes":          {func(m *keeper, x *tensor.Tensor) *tensor.Tensor { w := m.w; m.w = nil; return x.Mul(w) }, true},
		"writes": {func(m *keeper, x *tensor.Tensor) *tensor.Tensor {
			m.w.AssignInPlace(x.Sum().Unsqueeze(0))
			return x.Mul(m.w)
		}, false},
		"fills once":     {func(m *keeper, x *tensor.Tensor) *tensor.Tensor { m.last = m.w.MulScalar(2); return x.Mul(m.last) }, false},
		"fills the same": {func(m *keeper, x *tensor.Tensor) *tensor.Tensor { m.w = param(1); return x.Mul(m.w) }, false},
	} {
		m := &keeper{w: param(1), seen: map[string]*tensor.Tensor{}, do: c.do}
		_, err := fx.Trace(ctx, m, fx.Input("x", "f32[N]"))
		if name == "replaces" { // by a value computed from a parameter that is gone
			require.ErrorIs(t, err, tracer.Replaced, name)
			continue
		}
		if c.bad {
			require.ErrorIs(t, err, tracer.Replaced, name)
			require.ErrorContains(t, err, "unexported_test.go", name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
