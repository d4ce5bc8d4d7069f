package lazytest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lazy/lazytest"
	"github.com/gofx-dev/gofx/lowering/generated"
	"github.com/gofx-dev/gofx/tensor"
)

// report is a T that keeps what a check says.
type report []string

func (*report) Helper() {}

func (r *report) Errorf(format string, args ...any) { *r = append(*r, fmt.Sprintf(format, args...)) }

func open(t *testing.T) *lazy.Session {
	s := lazy.New(lazy.Options{})
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func step(s *lazy.Session, size int, logs bool) {
	y := s.In(tensor.Ones(size)).Exp()
	if logs {
		_ = y.String()
	}
	y.Sum().Item()
}

func TestFlushes(t *testing.T) {
	s := open(t)
	step(s, 2, true) // before
	lazytest.Flushes(t, s, lazy.Counts{lazy.Item: 1}, func() { step(s, 2, false) })
	lazytest.Flushes(t, s, lazy.Counts{lazy.Item: 2, lazy.Print: 1, lazy.Data: 0}, func() { step(s, 2, true); step(s, 3, false) })
	lazytest.Flushes(t, s, nil, func() { s.In(tensor.Ones(2)).Exp() })
	var r report
	lazytest.Flushes(&r, s, lazy.Counts{lazy.Item: 1}, func() { step(s, 2, true) })
	require.Len(t, r, 1)
	require.Regexp(t, regexp.MustCompile(`^the step computes item 1, print 1, expected item 1; .*
  item at lazytest_test.go:36, 1 time
  print at lazytest_test.go:34, 1 time$`), r[0])
	r = nil
	lazytest.Flushes(&r, s, lazy.Counts{lazy.Item: 1}, func() {})
	require.Len(t, r, 1)
	require.Contains(t, r[0], "computes nothing, expected item 1")
}

func TestMaxGraphs(t *testing.T) {
	s := open(t)
	step(s, 10, false)
	step(s, 10, false)
	lazytest.MaxGraphs(t, s, 1)
	step(s, 5, false)
	lazytest.MaxGraphs(t, s, 2)
	var r report
	lazytest.MaxGraphs(&r, s, 1)
	require.Len(t, r, 1)
	require.Contains(t, r[0], "has met 2 graphs, expected at most 1")
	require.Contains(t, r[0], "graph 2 differs from graph 1 at call 1")
	require.Contains(t, r[0], "reads x0 f32[5], there x0 f32[10]", "both shapes")
}

func TestGolden(t *testing.T) {
	file := filepath.Join(t.TempDir(), "graphs", "step.graphs")
	s := open(t)
	step(s, 2, false)
	step(s, 3, false)
	var r report
	lazytest.Golden(&r, s, file)
	require.Len(t, r, 1)
	require.Contains(t, r[0], lazytest.Update+"=1")
	t.Setenv(lazytest.Update, "1")
	lazytest.Golden(t, s, file)
	t.Setenv(lazytest.Update, "")
	lazytest.Golden(t, s, file)
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(src), ".go", "no lines of the program")

	s = open(t)
	step(s, 2, false)
	s.In(tensor.Ones(3)).Exp().Neg().Sum().Item()
	r = nil
	lazytest.Golden(&r, s, file)
	require.Len(t, r, 2)
	require.Contains(t, r[0], "graph 2 is not in "+file)
	require.Contains(t, r[0], "got  %neg = call_function[neg](%exp) : f32[3]  # lazytest_test.go:")
	require.Regexp(t, `want %sum = .* # step.graphs:\d+`, r[0])
	require.Regexp(t, `step.graphs:\d+: the session has not met this graph`, r[1])
}

// TestGolden_checkedIn holds the graphs of a step to a file that is checked in, whatever the
// folder that the test was built in.
func TestGolden_checkedIn(t *testing.T) {
	s := open(t)
	for i := range 3 {
		if i%2 == 0 {
			step(s, 4, true)
		} else {
			step(s, 4, false)
		}
	}
	lazytest.Golden(t, s, filepath.Join("testdata", "step.graphs"))
}

func TestGenerated(t *testing.T) {
	s := open(t)
	step(s, 2, false)
	lazytest.Generated(t, s) // nothing was asked of it

	missing := lazy.New(lazy.Options{Generated: &generated.Graphs{}})
	defer func() { require.NoError(t, missing.Close()) }()
	step(missing, 2, false)
	step(missing, 2, false)
	step(missing, 3, true)
	var r report
	lazytest.Generated(&r, missing)
	require.Len(t, r, 3)
	require.Contains(t, r[0], "graph 1 is not in Options.Generated, 2 of its 2 runs")
	require.Contains(t, r[1], "print at lazytest_test.go")

	record := lazy.New(lazy.Options{Record: true})
	defer func() { require.NoError(t, record.Close()) }()
	step(record, 2, false)
	lazytest.Generated(t, record)
}
