package viewfuzz_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/viewfuzz"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
)

func nightly() bool { return os.Getenv("GOFX_NIGHTLY") == "1" }

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// counts is the statistics of a run over many chains.
type counts struct{ chains, runs, refused, moved, views atomic.Int64 }

// TestChains compares the interpreter with plans of a chain after the default passes,
// and of the original chain.
func TestChains(t *testing.T) {
	count := 5000
	switch {
	case nightly():
		count = 200_000
	case testing.Short():
		count = 1000
	}
	first, count := number("GOFX_VIEWS_FIRST", 0), number("GOFX_VIEWS_COUNT", count)
	var c counts
	eachChain(t, first, count, c.judge)
	t.Logf("%d chains, %d runs, of which all engines refused %d; moves changed %d chains, plans have %d view steps",
		c.chains.Load(), c.runs.Load(), c.refused.Load(), c.moved.Load(), c.views.Load())
	if count >= 1000 {
		require.Greater(t, c.runs.Load(), 14*c.chains.Load(), "the chains have sizes")
		require.Less(t, 4*c.refused.Load(), c.runs.Load(), "most sets are taken")
		require.Greater(t, 5*c.moved.Load(), c.chains.Load(), "moves finds something to do")
	}
}

// eachChain calls judge for the chains of some seeds, on all processors, and reports the
// first one of which it says something.
func eachChain(t *testing.T, first, count int, judge func(seed uint64) string) {
	t.Helper()
	var next atomic.Int64
	next.Store(int64(first))
	var failed sync.Map
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				seed := next.Add(1) - 1
				if seed >= int64(first+count) || t.Context().Err() != nil {
					return
				}
				if why := judge(uint64(seed)); why != "" {
					failed.Store(seed, why)
					next.Store(int64(first + count))
				}
			}
		})
	}
	wg.Wait()
	failed.Range(func(seed, why any) bool {
		t.Errorf("GOFX_VIEWS_FIRST=%d GOFX_VIEWS_COUNT=1: %s", seed, why)
		return true
	})
}

// judge returns the error of a chain.
func (c *counts) judge(seed uint64) string {
	m := viewfuzz.Build(seed)
	c.chains.Add(1)
	engines, why := c.engines(m)
	if why != "" {
		return why + "\n" + m.String()
	}
	state := interp.NewState(m)
	for _, env := range viewfuzz.Sets(m, seed, viewfuzz.SetsPerChain) {
		in := viewfuzz.Inputs(m, env)
		want, err := (&interp.Interpreter{State: state}).RunArrays(context.Background(), in)
		c.runs.Add(1)
		if err != nil {
			c.refused.Add(1)
		}
		for _, e := range engines {
			got, failed := e.run(context.Background(), in)
			switch {
			case (err != nil) != (failed != nil):
				return fmt.Sprintf("%s at %v: %v, the interpreter %v\n%s", e.name, env, failed, err, m)
			case err != nil:
				continue
			}
			if d := fxtest.SameArrays(want, got); d != "" {
				return fmt.Sprintf("%s at %v: %s\n%s\nbecame\n%s", e.name, env, d, m, e.module)
			}
		}
	}
	return ""
}

type engine struct {
	name   string
	module *graph.Module
	run    func(context.Context, []*array.Array) ([]*array.Array, error)
}

// engines compiles a chain.
func (c *counts) engines(m *graph.Module) (list []engine, why string) {
	done := graph.Clone(m)
	report, err := passes.Run(context.Background(), done, fx.Optimise(), passes.Options{NoLint: true})
	if err != nil {
		return nil, "passes: " + err.Error()
	}
	if report.Matches("moves") > 0 {
		c.moved.Add(1)
	}
	for _, e := range []engine{{name: "plan", module: m}, {name: "optimised plan", module: done}} {
		exe, err := cpu.Compile(e.module, lowering.Options{Threads: 1})
		if err != nil {
			return nil, e.name + ": " + err.Error()
		}
		for _, s := range exe.Plan().Steps {
			if s.View {
				c.views.Add(1)
			}
		}
		e.run = exe.Run
		list = append(list, e)
	}
	return list, ""
}
