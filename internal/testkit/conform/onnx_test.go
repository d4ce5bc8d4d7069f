package conform

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
)

// onnxCase is a folder of the conformance data, as index.tsv describes it.
type onnxCase struct {
	path, operator, tier, note string
	tol                        onnx.Tolerance
}

// expanded reports whether the case is another one with its operator written out.
func (c onnxCase) expanded() bool { return strings.HasSuffix(c.path, "_expanded") }

// onnxOutcome is the outcome of a case.
type onnxOutcome struct {
	onnxCase
	imports error
	wrong   map[string]error // by engine, nil where the results are right
	written map[string]error // whether the styles of code can be printed
}

// onnxEngines compute every case.
var onnxEngines = map[string]func(m *graph.Module, in []*array.Array) ([]*array.Array, error){
	Interp: func(m *graph.Module, in []*array.Array) ([]*array.Array, error) {
		return fx.NewGraphModule(m).RunArrays(ctx, in)
	},
	Plan: func(m *graph.Module, in []*array.Array) ([]*array.Array, error) {
		e, err := cpu.Compile(m, lowering.Options{})
		if err != nil {
			return nil, err
		}
		out, err := e.Run(ctx, in)
		return out, errors.Join(err, e.Close())
	},
}

// conformance is the folder of the data, "" where there is none.
func conformance(t testing.TB) string {
	root, err := repo.Root()
	require.NoError(t, err)
	dir := filepath.Join(filepath.Dir(root), "shared", "conformance")
	if _, err := os.Stat(filepath.Join(dir, "index.tsv")); err != nil {
		t.Skip("no folder shared/conformance next to this checkout")
	}
	return dir
}

// onnxCases reads index.tsv.
func onnxCases(t testing.TB, dir string) (list []onnxCase) {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(dir, "index.tsv"))
	require.NoError(t, err)
	for _, line := range strings.Split(strings.TrimSpace(string(index)), "\n")[1:] {
		cols := append(strings.Split(line, "\t"), "")
		c := onnxCase{path: cols[0], operator: cols[1], tier: cols[4], note: cols[7], tol: onnx.StandardTolerance}
		if abs, ok := strings.CutPrefix(c.note, "atol="); ok {
			c.tol.Abs, err = strconv.ParseFloat(abs, 64)
			require.NoError(t, err, line)
		}
		list = append(list, c)
	}
	return list
}

// onnxSet is a case imported for one of its samples.
type onnxSet struct {
	sample onnx.Sample
	m      *graph.Module
	args   []*array.Array
}

// sets imports a case for each of its samples.
func (c onnxCase) sets(root string) (list []onnxSet, err error) {
	dir := filepath.Join(root, c.path)
	f, err := onnx.Read(filepath.Join(dir, "model.onnx"))
	if err != nil {
		return nil, err
	}
	if _, err = f.Import(onnx.Options{}); err != nil && !errors.Is(err, onnx.CodeValue) {
		return nil, err // before values, which have types that this may refuse
	}
	samples, err := f.Samples(dir)
	if err != nil {
		return nil, err
	}
	for _, s := range samples {
		m, bound, err := f.ImportFor(s.Inputs, onnx.Options{Lengths: s.Lengths})
		if err == nil {
			err = graph.Lint(m.Graph).Err()
		}
		if err != nil {
			return nil, err
		}
		list = append(list, onnxSet{s, m, f.Args(s, bound)})
	}
	return list, nil
}

// run computes a case with every engine of this process.
func (c onnxCase) run(root string) onnxOutcome {
	o := onnxOutcome{onnxCase: c, wrong: map[string]error{}, written: map[string]error{}}
	sets, err := c.sets(root)
	if err != nil {
		o.imports = err
		for engine := range onnxEngines {
			o.wrong[engine] = err
		}
		for _, style := range styles {
			o.written[style.engine] = err
		}
		return o
	}
	for _, s := range sets {
		for engine, run := range onnxEngines {
			if o.wrong[engine] == nil {
				o.wrong[engine] = s.check(run, c.tol)
			}
		}
		for _, style := range styles {
			if o.written[style.engine] == nil {
				_, o.written[style.engine] = style.generate(graph.Clone(s.m), "model")
			}
		}
	}
	return o
}

func (s onnxSet) check(run func(*graph.Module, []*array.Array) ([]*array.Array, error), tol onnx.Tolerance) error {
	got, err := run(graph.Clone(s.m), s.args)
	if err != nil {
		return err
	}
	_, err = s.sample.Check(got, tol)
	return err
}

var theONNX []onnxOutcome

// onnxOutcomes runs every case, once.
func onnxOutcomes(t *testing.T) []onnxOutcome {
	t.Helper()
	if theONNX == nil {
		dir := conformance(t)
		for _, c := range onnxCases(t, dir) {
			theONNX = append(theONNX, c.run(dir))
		}
	}
	return theONNX
}

const onnxList = "testdata/onnx.tsv"

// onnxFloors are the cases that pass, by tier and engine, of how many. They rise with
// the supported operators and never fall.
var onnxFloors = map[string]string{
	"core":         "interp 1164 plan 1164 of 1170",
	"model":        "interp 83 plan 83 of 83",
	"extended":     "interp 124 plan 124 of 127",
	"recent":       "interp 155 plan 155 of 155",
	"exotic-dtype": "interp 105 plan 105 of 106",
}

// TestONNX runs ONNX's conformance cases in the interpreter and in plans. Cases that do not pass
// are listed in testdata/onnx.tsv with their reason, which has a code: they are refused, and no
// result differs except in cases that the index calls disputed. A listed case that passes fails the
// test; -update writes the list, the floors are raised by hand.
func TestONNX(t *testing.T) {
	var list strings.Builder
	list.WriteString("case\tengines\twhy\n")
	counts := map[string]map[string]int{}
	for _, o := range onnxOutcomes(t) {
		n := counts[o.tier]
		if n == nil {
			n = map[string]int{}
			counts[o.tier] = n
		}
		n["of"]++
		var failed []string
		var why error
		for _, engine := range []string{Interp, Plan} {
			if err := o.wrong[engine]; err != nil {
				failed, why = append(failed, engine), err
				if !strings.HasPrefix(o.note, "disputed:") {
					require.NotErrorIs(t, err, onnx.CodeDiffers, "%s: engine %s computes something else", o.path, engine)
				}
			} else {
				n[engine]++
			}
		}
		if why != nil {
			fmt.Fprintf(&list, "%s\t%s\t%s\n", o.path, strings.Join(failed, ","), reason(t, o.path, why))
		}
	}
	for tier, n := range counts {
		require.Equal(t, onnxFloors[tier], fmt.Sprintf("interp %d plan %d of %d", n[Interp], n[Plan], n["of"]), tier)
	}
	require.Len(t, counts, len(onnxFloors))
	if *update {
		require.NoError(t, os.WriteFile(onnxList, []byte(list.String()), 0o644))
	}
	have, err := os.ReadFile(onnxList)
	require.NoError(t, err)
	for i, line := range strings.Split(list.String(), "\n") {
		lines := strings.Split(string(have), "\n")
		require.Less(t, i, len(lines), "%s lacks: %s", onnxList, line)
		require.Equal(t, lines[i], line, "line %d of %s; go test ./internal/testkit/conform -run TestONNX -update writes it", i+1, onnxList)
	}
}

var atNode = regexp.MustCompile(`^.*\.(onnx|pb): ((node|output|input|initializer|test_data)[^"]*("[^"]*")?: )?`)

// reason is the first thing that an error says, without where files lie.
func reason(t *testing.T, what string, err error) string {
	t.Helper()
	text, _, _ := strings.Cut(err.Error(), "\n")
	text = strings.ReplaceAll(atNode.ReplaceAllString(text, ""), "\t", " ")
	require.Regexp(t, `\[FX\d{4}\]$`, text, "%s: a refusal has a code", what)
	return text
}

// TestONNXInGeneratedCode builds the models and a tenth of the other cases in both styles
// of code, as one program. The cases that code cannot be printed for are no surprise:
// docs/onnx.md counts them.
func TestONNXInGeneratedCode(t *testing.T) {
	if os.Getenv("GOFX_NIGHTLY") == "" {
		t.Skip("GOFX_NIGHTLY is not set: building the packages takes minutes")
	}
	dir := conformance(t)
	p := newProgram(t)
	type expectation struct {
		c    onnxCase
		set  onnxSet
		call string
	}
	var want []expectation
	for i, o := range onnxOutcomes(t) {
		if o.wrong[Plan] != nil || o.tier != "model" && i%10 != 0 {
			continue
		}
		sets, err := o.sets(dir)
		require.NoError(t, err, o.path)
		for _, style := range styles {
			for k, s := range sets {
				pkg := fmt.Sprintf("%s%dset%d", style.engine, i, k)
				files, err := style.generate(graph.Clone(s.m), pkg)
				if err != nil {
					require.Equal(t, reason(t, o.path, o.written[style.engine]), reason(t, o.path, err), o.path)
					continue
				}
				p.add(pkg, files, s.args)
				want = append(want, expectation{o.onnxCase, s, pkg + "/0"})
			}
		}
	}
	require.Greater(t, len(want), 300)
	got := p.run()
	for _, w := range want {
		_, err := w.set.sample.Check(got[w.call], w.c.tol)
		require.NoError(t, err, "%s as %s", w.c.path, w.call)
	}
}
