package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

const (
	realFile     = "testdata/real/real.tsv"
	outcomesFile = "testdata/real/outcomes.tsv"
)

var realEngines = []string{"interp", "plan", "gen"}

// outcome is the outcome of a model file.
type outcome struct {
	name    string
	engines map[string]string // agrees, within noise, differs or refused
	why     string
}

// realModel is a model file that a package ships.
type realModel struct {
	outcome
	kind, origin string
	noise        float64
}

// readReal reads the list of models with their outcomes.
func readReal(t testing.TB) []*realModel {
	t.Helper()
	var list []*realModel
	byName := map[string]*realModel{}
	for _, cols := range table(t, realFile) {
		m := &realModel{outcome: outcome{name: cols[0], engines: map[string]string{}}, kind: cols[1], origin: cols[2]}
		list, byName[m.name] = append(list, m), m
	}
	for _, cols := range table(t, outcomesFile) {
		m := byName[cols[0]]
		require.NotNil(t, m, "%s is not in the list", cols[0])
		noise, err := strconv.ParseFloat(cols[1], 64)
		require.NoError(t, err, cols[0])
		m.noise, m.why = noise, cols[len(cols)-1]
		for i, e := range realEngines {
			m.engines[e] = cols[2+i]
		}
	}
	return list
}

// table reads the lines of a file after the first, by columns.
func table(t testing.TB, file string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	columns := strings.Count(lines[0], "\t")
	for _, line := range lines[1:] {
		rows = append(rows, strings.Split(line+strings.Repeat("\t", max(0, columns-strings.Count(line, "\t"))), "\t"))
	}
	return rows
}

const realIntro = `
## Real files

Model files that packages of PyPI, npm and Maven ship, compared with ONNX Runtime (its CPU provider, without optimisations) at two sizes each, those
with state over four steps. Elements that agree are within 1e-3 of the expected one and 1e-4. The last column says how far ONNX Runtime's own results are apart: of models that round
to 8 or 16 bits while they run, between its levels of optimisation and when inputs and weights move by two roundings (one of f16), since chance decides a tie; of models that transform signals to frequencies, between f32 and f64. Within noise
is up to twice that.

`

// realTable writes the models and their outcomes in each engine.
func realTable(b *strings.Builder, list []*realModel) {
	b.WriteString(realIntro)
	for _, e := range realEngines {
		fmt.Fprintf(b, "%s: %d of %d agree, %d more are within noise. ", e, counted(list, e, "agrees"), len(list), counted(list, e, withinNoise))
	}
	b.WriteString("\n\n| model | kind | package | interp | plan | gen | noise |\n|---|---|---|---|---|---|---|\n")
	for _, m := range list {
		noise := ""
		if m.noise > realAbs {
			noise = fmt.Sprint(m.noise)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", m.name, m.kind, strings.ReplaceAll(m.origin, ":", " "),
			m.engines["interp"], m.engines["plan"], m.engines["gen"], noise)
	}
}

// counted returns how many models have an outcome in an engine.
func counted(list []*realModel, engine, state string) (n int) {
	for _, m := range list {
		if m.engines[engine] == state {
			n++
		}
	}
	return n
}

var oneReal = flag.String("real", "", "the one real model to try")

const (
	realAbs     = 1e-4           // how far elements near zero may be from ONNX Runtime's
	withinNoise = "within noise" // further, but by at most twice as far as ONNX Runtime's own results are apart
)

// TestRealModelsAreListed holds the list to the promises of issue and documentation.
func TestRealModelsAreListed(t *testing.T) {
	list := readReal(t)
	require.GreaterOrEqual(t, len(list), 60)
	for _, e := range realEngines {
		agree, noise := counted(list, e, "agrees"), counted(list, e, withinNoise)
		require.GreaterOrEqual(t, float64(agree+noise), 0.97*float64(len(list)), e)
		require.GreaterOrEqual(t, float64(agree), 0.9*float64(len(list)), e)
	}
}

// TestRealModels fetches the packages, runs their models in ONNX Runtime and in every
// engine, and compares; with -update it writes the outcomes.
func TestRealModels(t *testing.T) {
	fxtest.Nightly(t)
	cases, noise := realCases(t)
	list := readReal(t)
	list = slices.DeleteFunc(list, func(m *realModel) bool { _, ok := noise[m.name]; return !ok })
	var outcomes []*outcome
	for _, m := range list {
		m.noise, m.why = noise[m.name], ""
		outcomes = append(outcomes, &m.outcome)
	}
	v := newVerifier(t, cases)
	for _, e := range realEngines {
		v.judgeAll(e, outcomes)
		for _, m := range list {
			if m.engines[e] != "agrees" && m.noise > realAbs/2 {
				v.judge(e, 2*m.noise, []*outcome{&m.outcome}, withinNoise)
			}
		}
	}
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			for _, e := range realEngines {
				require.Contains(t, []string{"agrees", withinNoise}, m.engines[e], "%s: %s", e, m.why)
			}
		})
	}
	if *update {
		writeOutcomes(t, list)
	}
}

// verifier runs fxgen verify on cases.
type verifier struct {
	t                 *testing.T
	root, tool, cases string
}

// newVerifier builds the command.
func newVerifier(t *testing.T, cases string) verifier {
	t.Helper()
	root, err := repo.Root()
	require.NoError(t, err)
	v := verifier{t, root, filepath.Join(t.TempDir(), "fxgen"), cases}
	build := exec.Command("go", "build", "-o", v.tool, "./cmd/fxgen")
	build.Dir = root
	text, err := build.CombinedOutput()
	require.NoError(t, err, "%s", text)
	return v
}

// judgeAll enters the outcomes of models in an engine, a few at a time: a program of generated
// code has the weights of all its models.
func (v verifier) judgeAll(engine string, models []*outcome) {
	v.t.Helper()
	for part := range slices.Chunk(models, 10) {
		v.judge(engine, realAbs, part, "agrees")
	}
}

// judge enters the outcomes of models in an engine, with state for those that are near enough.
func (v verifier) judge(engine string, abs float64, models []*outcome, state string) {
	v.t.Helper()
	args := []string{"verify", "-json", "-engine", engine, "-rtol", "1e-3", "-atol", fmt.Sprint(abs)}
	for _, m := range models {
		args = append(args, filepath.Join(v.cases, m.name))
	}
	cmd := exec.Command(v.tool, args...)
	cmd.Dir = v.root // generated code is built in the module
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		require.NoError(v.t, err)
	}
	var doc struct {
		Cases []struct{ Case, State, Why string }
	}
	require.NoError(v.t, json.Unmarshal(out.Bytes(), &doc), "%s", log.String())
	require.Len(v.t, doc.Cases, len(models), "%s", log.String())
	for i, c := range doc.Cases {
		m := models[i]
		require.Equal(v.t, m.name, filepath.Base(c.Case))
		if c.State == "agrees" {
			m.engines[engine] = state
			continue
		}
		m.engines[engine] = c.State
		if m.why == "" {
			m.why = strings.Join(strings.Fields(strings.ReplaceAll(c.Why, v.cases+string(filepath.Separator), "")), " ")
		}
	}
}

// writeOutcomes writes the outcomes and leaves those of models that were not fetched.
func writeOutcomes(t *testing.T, tried []*realModel) {
	t.Helper()
	var b strings.Builder
	b.WriteString("model\tnoise\tinterp\tplan\tgen\twhy not\n")
	for _, m := range readReal(t) {
		if i := slices.IndexFunc(tried, func(o *realModel) bool { return o.name == m.name }); i >= 0 {
			m = tried[i]
		}
		fmt.Fprintf(&b, "%s\t%g\t%s\t%s\t%s\t%s\n", m.name, m.noise, m.engines["interp"], m.engines["plan"], m.engines["gen"], m.why)
	}
	require.NoError(t, os.WriteFile(outcomesFile, []byte(b.String()), 0o644))
}

// realCases makes the cases, by a Python of its own that has ONNX Runtime. Packages are
// kept in the user's cache. It returns the noise of each model that ONNX Runtime runs.
func realCases(t *testing.T) (folder string, noise map[string]float64) {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	cache = filepath.Join(cache, "gofx", "real")
	require.NoError(t, os.MkdirAll(cache, 0o755))
	python := filepath.Join(cache, "venv", "bin", "python")
	for _, c := range [][]string{
		{"python3", "-m", "venv", filepath.Join(cache, "venv")},
		{python, "-m", "pip", "install", "-q", "-r", "testdata/real/requirements.txt"},
	} {
		if text, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Skipf("no Python with ONNX Runtime: %s: %v: %s", strings.Join(c, " "), err, text)
		}
	}
	folder = t.TempDir()
	args := []string{"testdata/real/cases.py", realFile, cache, folder}
	if *oneReal != "" {
		args = append(args, *oneReal)
	}
	cmd := exec.Command(python, args...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	require.NoError(t, err)
	noise = map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		cols := strings.Split(line, "\t")
		if cols[1] != "ok" {
			t.Logf("%s: %s", cols[0], strings.Join(cols[1:], " "))
			continue
		}
		n, err := strconv.ParseFloat(cols[2], 64)
		require.NoError(t, err, line)
		noise[cols[0]] = n
	}
	require.NotEmpty(t, noise, "no package was to be had")
	return folder, noise
}
