package lazy_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the rows of docs/lazy.md")

// row is a row of the published systems' tables: the test that holds it, or why there is none.
type row struct{ id, about, test, none string }

// rows are Torchy's features (TY), LazyTensor's (L), Torchy's cases, and the pitfalls (PF).
var rows = []row{
	{"TY-1", "calls wait until data is read", "TestRows_TY1_delaysUntilObserved", ""},
	{"TY-2", "each flush has a reason and a line", "TestRows_TY2_reasons, TestExplain_flushesHaveLines", ""},
	{"TY-3", "types and sizes are known without data", "TestRows_TY3_shapesAreKnown", ""},
	{"TY-4", "rules of types agree with kernels", "internal/testkit/conform.TestSamples", ""},
	{"TY-5", "the number of recorded calls is bounded", "TestRows_TY5_boundedTrace", ""},
	{"TY-6", "an operand that comes twice is one input", "TestRows_TY6_inputs, TestState_eagerWrites", ""},
	{"TY-7", "inner values are no outputs", "TestRows_TY7_outputs", ""},
	{"TY-8", "writes in place under several names", "TestRows_TY8_twoNames", ""},
	{"TY-9", "calls that nobody reads do not run", "TestRows_TY9_deadCallsDoNotRun", ""},
	{"TY-10", "a graph is compiled once", "TestRows_TY10_oneCompile", ""},
	{"TY-11", "a target that refuses a graph", "TestTarget_thatRefuses, TestCases", ""},
	{"TY-12", "state of threads that changes calls", "", "Go code has no default type and no mode of a thread: attributes are in the call"},
	{"TY-13", "gradients ask for nothing", "TestGrad_asksForNothing, TestGrad_equalsEager", ""},
	{"TY-14", "each path through branches is a graph", "TestRows_TY14_paths", ""},
	{"TY-15", "statistics and the succession of graphs", "TestExplain_successors, ExampleSession_Stats", ""},
	{"TY-16", "search for the call whose delay changes a result", "lazy/lazytest.TestBisect", ""},
	{"TY-17", "compiled next to the program", "TestExplain_states", ""},
	{"TY-18", "the same code runs eagerly and in a session", "TestCases, ExampleSession_In", ""},

	{"L-1", "calls that return tensors ask for nothing", "TestRows_L1_methodsAreRecorded", ""},
	{"L-2", "graphs print the same each time", "TestRows_L2_text", ""},
	{"L-3", "a barrier computes all live values at once", "TestRows_L3_barrier", ""},
	{"L-4", "a table of live tensors", "", "Go has no destructors; a session has no such table, values that no handle reaches are collected (TestTraps/12)"},
	{"L-5", "keys", "TestRows_L5_keys, TestPrograms_areBounded, TestFolder_startsWarm", ""},
	{"L-6", "wirings are told apart", "TestRows_L6_wiring", ""},
	{"L-7", "special scalars", "TestRows_L7_specialScalars, TestRows_L7_timesOneIsNoStep", ""},
	{"L-8", "a cache of uploaded scalars", "TestRows_L8_scalarsAreNotMerged", ""},
	{"L-9", "writes in place are values", "TestRows_L9_thousandWrites, TestRows_L9_sameGraph", ""},
	{"L-10", "writes through views", "TestRows_L10_views, internal/testkit/capturefuzz.TestCapture", ""},
	{"L-11", "memory of inputs becomes that of outputs", "TestRows_W11_updatesInPlace, TestDonate_unreachable, TestDonate_memoryOfOthers", ""},
	{"L-12", "functions that are no operators", "TestRows_L12_foreignCalls, TestForeign_runsAtOnce", ""},
	{"L-13", "branches on data run each call once", "TestRows_L13_branches", ""},
	{"L-14", "sizes that elements say", "TestRows_L14_sizesOfElements", ""},
	{"L-15", "counters", "ExampleSession_Stats, TestExplain_isJSON", ""},
	{"L-16", "causes with lines; flushes can be forbidden", "TestExplain_flushesHaveLines, TestNoFlush", ""},
	{"L-17", "a limit of graphs that names both shapes", "lazy/lazytest.TestMaxGraphs", ""},
	{"L-18", "nodes of the last step are used again", "", "a recorded call is one small value, there is no node to build"},
	{"L-19", "memory stays bounded without barriers", "TestRows_L19_flatMemory", ""},
	{"L-20", "runs next to the program", "", "a flush is asked for by code that waits for it; its errors are that code's"},
	{"L-21", "random numbers", "TestRows_L21_random, TestRows_L21_keysOfRandomNumbers", ""},
	{"L-22", "clones", "TestRows_L22_clones", ""},
	{"L-23", "only what is asked for is computed", "TestRows_L23_conesApart", ""},
	{"L-24", "tensors of two sessions", "TestSessions_doNotMix", ""},
	{"L-25", "functions to be called after a barrier", "", "code after Barrier is such a function"},
	{"L-26", "a captured graph without recording", "TestRows_L26_secondCallRecordsNothing, TestProgram_writesState, ExampleSession_Program", ""},
	{"L-27", "eager code stays as it is", "TestCases", ""},

	{"PF-1", "a graph for each size", "TestRows_PF1_manySizes, TestRows_W3_lengths", ""},
	{"PF-2", "a graph for each position", "TestRows_PF2_positions", ""},
	{"PF-3", "special scalars multiply graphs", "TestRows_PF3_specialsAreBounded", ""},
	{"PF-4", "equal scalars that share memory", "", "a scalar has no memory to share"},
	{"PF-5", "wrong programs from the cache", "TestRows_L6_wiring, TestRows_PF5_zeroAndOneOfTypes", ""},
	{"PF-6", "keys that change with lines", "TestRows_PF6_linesAreNoKey, TestFolder_filesAreOfGraphsAlone", ""},
	{"PF-7", "writes to shared constants", "TestRows_PF7_equalConstants", ""},
	{"PF-8", "old values are kept for who has read them", "TestTraps/3", ""},
	{"PF-9", "views across barriers", "TestRows_PF9_viewsAndBarriers", ""},
	{"PF-10", "writes through a view that nobody has any more", "TestCases/inplace_dead_alias", ""},
	{"PF-11", "wrong rules of types", "internal/testkit/conform.TestSamples", ""},
	{"PF-12", "a print in the loop", "lazy/lazytest.TestFlushes, lazy/lazytest.ExampleFlushes", ""},
	{"PF-13", "calls before a branch run again after it", "TestRows_L13_branches, TestTraps/4", ""},
	{"PF-20", "times of recording alone", "", "benchmarks call Barrier or read a value in the loop"},
	{"PF-25", "programs without a barrier", "TestRows_L19_flatMemory, TestTraps/10", ""},
	{"PF-26", "errors far from their calls", "TestMistakes_haveLines", ""},
	{"PF-27", "global state", "TestRows_PF27_sessionsOfGoroutines, TestOverlap", ""},
	{"PF-28", "results that depend on collections", "TestRows_PF28_collections", ""},
	{"PF-29", "a compilation for each seed", "TestRows_L21_random", ""},
	{"PF-30", "programs that run once", "TestRows_PF30_programsThatRunOnce", ""},
	{"PF-31", "first steps that differ", "TestRows_PF31_training", ""},
	{"PF-32", "calls that run by themselves unnoticed", "TestRows_PF32_networksAreRecorded", ""},
}

// unlike are cases of Torchy's that have no program, or another outcome, in Go.
var unlike = []row{
	{"detach", "a write through a detached tensor", "TestRows_detachIsNotWritten", ""},
	{"inplace_alias", "a transposition in place", "", "the shape of a tensor does not change"},
	{"resize_as_", "a change of size in place", "", "the shape of a tensor does not change"},
	{"resize_as_clone", "a change of size after a clone", "", "the shape of a tensor does not change"},
	{"set_", "another storage for a tensor", "", "the memory of a tensor does not change"},
	{"CUDA default_dtype, simple", "tensors on a device", "", "tensors lie in the memory of the host; Options.Target may be a device"},
}

const pagePath = "../docs/lazy.md"

const rowsHead = "\n## Rows\n"

// page is the generated part of docs/lazy.md.
func page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nWritten by `go test ./lazy -run Page -update` from the tables of `lazy/rows_page_test.go`. The rows are the features of Torchy (TY) and of LazyTensor (L), the pitfalls that were reported of\n"+
		"both (PF), and the cases of Torchy's own tests, of which %d run as `TestCases` in `lazy/cases_test.go`: eagerly, call by call, and compiled.\n\n| row | about | test |\n|---|---|---|\n", rowsHead, len(programs))
	for _, r := range append(rows[:len(rows):len(rows)], unlike...) {
		held := "none: " + r.none
		if r.test != "" {
			held = "`" + strings.ReplaceAll(r.test, ", ", "`, `") + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.id, r.about, held)
	}
	return b.String()
}

func TestPageIsCurrent(t *testing.T) {
	text, err := os.ReadFile(pagePath)
	require.NoError(t, err)
	guide, have, _ := strings.Cut(string(text), rowsHead)
	if *update {
		require.NoError(t, os.WriteFile(pagePath, []byte(guide+page()), 0o666))
		return
	}
	require.True(t, page() == rowsHead+have, "go test ./lazy -run Page -update")
}

// TestRows_areComplete holds that every row has a test that exists, or a reason.
func TestRows_areComplete(t *testing.T) {
	tests := map[string]map[string]bool{}
	for _, r := range append(rows[:len(rows):len(rows)], unlike...) {
		require.NotEqual(t, r.test == "", r.none == "", "%s has a test or a reason", r.id)
		for _, name := range strings.Split(r.test, ", ") {
			folder, test, ok := strings.Cut(name, ".")
			if !ok {
				folder, test = "lazy", name
			}
			if name != "" {
				if tests[folder] == nil {
					tests[folder] = testsOf(t, filepath.Join("..", filepath.FromSlash(folder)))
				}
				test, _, _ = strings.Cut(test, "/")
				require.True(t, tests[folder][test], "%s: there is no %s", r.id, name)
			}
		}
	}
	count := func(prefix string) (n int) {
		for _, r := range rows {
			if strings.HasPrefix(r.id, prefix) {
				n++
			}
		}
		return n
	}
	require.Equal(t, []int{18, 27, 22}, []int{count("TY-"), count("L-"), count("PF-")})
	require.Equal(t, 37+1, len(programs)+len(unlike), "the two cases of CUDA are one row")
}

// testsOf lists the test functions in a folder.
func testsOf(t *testing.T, folder string) map[string]bool {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}
