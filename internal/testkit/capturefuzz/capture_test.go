package capturefuzz

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/judge"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
)

// strict makes every failure of a program one of the test. While it is false,
// failures are only logged; GOFX_CAPTURE_STRICT=1 sets it for one run.
const strict = true

func isStrict() bool { return strict || os.Getenv("GOFX_CAPTURE_STRICT") == "1" }

func nightly() bool { return os.Getenv("GOFX_NIGHTLY") == "1" }

// number reads an environment variable: GOFX_CAPTURE_FIRST is the first seed,
// GOFX_CAPTURE_COUNT how many programs are run.
func number(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, name)
	return n
}

// batch bounds the programs of one build, for the compiler's sake.
const batch = 250

// TestCapture runs 200 programs, 5,000 of them nightly: each must give the same
// results captured as eagerly, in every engine, or be refused at a line.
func TestCapture(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: programs are built by the go command")
	}
	count := 200
	if nightly() {
		count = 5000
	}
	first, count := number(t, "GOFX_CAPTURE_FIRST", 0), number(t, "GOFX_CAPTURE_COUNT", count)
	dir := workdir.Of(t)
	var sum summary
	for from := 0; from < count; from += batch {
		b := &Batch{Dir: dir, Generate: true}
		for i := range min(batch, count-from) {
			b.Programs = append(b.Programs, Generate(uint64(first+from+i), i))
		}
		list, err := b.Judge()
		require.NoError(t, err)
		require.Empty(t, b.Broken, "programs that are no Go")
		sum.add(list, b.Programs)
	}
	t.Log(sum.table())
	small := sum.sample()
	if isStrict() || testing.Verbose() {
		var err error
		small, err = Reduce(&Batch{Dir: dir, Generate: slices.ContainsFunc(small, Failure.generated)}, small)
		require.NoError(t, err)
	}
	for _, f := range small {
		text := fmt.Sprintf("%s, captured %s, engine %q, size %d: %s %s\n%s", f.Kind, f.Capture, f.Engine, f.Size, f.Code, f.Detail, f.Program.Brief())
		if isStrict() {
			t.Error(text)
		} else {
			t.Log(text)
		}
	}
	if count >= 200 {
		sum.floors(t)
	}
}

// TestMutationsApply keeps the table of mutations up to date with the sources.
func TestMutationsApply(t *testing.T) {
	root, err := repo.Root()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(Mutations), 15)
	for _, m := range Mutations {
		text, err := m.Apply(root)
		require.NoError(t, err)
		src, err := os.ReadFile(filepath.Join(root, m.File))
		require.NoError(t, err)
		require.NotEqual(t, string(src), text, m.Name)
	}
}

// mutationPrograms is how many programs may be needed to find a mutation.
const mutationPrograms = 600

// TestMutationsAreFound puts each mutation into the mechanism: some program must
// fail, or be refused, that is captured rightly without it. GOFX_CAPTURE_MUTATION picks by a
// regular expression of the names.
func TestMutationsAreFound(t *testing.T) {
	only := os.Getenv("GOFX_CAPTURE_MUTATION")
	if !nightly() && only == "" {
		t.Skip("GOFX_NIGHTLY is not 1")
	}
	names, err := regexp.Compile(only)
	require.NoError(t, err)
	run := func(t *testing.T, m *Mutation, from, to int) map[judge.Verdict]bool {
		b := &Batch{Dir: workdir.Of(t), Generate: m != nil && m.Generate}
		for i := from; i < to; i++ {
			b.Programs = append(b.Programs, Generate(uint64(i), i))
		}
		if m != nil {
			var err error
			b.Overlay, err = m.Overlay(b.Dir)
			require.NoError(t, err)
		}
		list, err := b.Judge()
		require.NoError(t, err)
		bad := map[judge.Verdict]bool{}
		for _, v := range list {
			if v.Kind.Bad() || v.Kind == judge.Refused {
				bad[judge.Verdict{ID: v.ID, Kind: v.Kind, Engine: v.Engine, Capture: v.Capture}] = true
			}
		}
		return bad
	}
	clean := run(t, nil, 0, mutationPrograms)
	again := run(t, nil, 0, 150)
	maps.DeleteFunc(again, func(v judge.Verdict, _ bool) bool { return clean[v] })
	require.Empty(t, again, "verdicts that are not the same each time")
	for _, m := range Mutations {
		if !names.MatchString(m.Name) {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			// Most are found at once: fewer programs are quicker to build.
			for _, part := range [][2]int{{0, 150}, {150, mutationPrograms}} {
				found := run(t, &m, part[0], part[1])
				maps.DeleteFunc(found, func(v judge.Verdict, _ bool) bool { return clean[v] })
				for v := range found {
					t.Logf("found by seed %d: %s, captured %s, engine %q (%d verdicts in all)", v.ID, v.Kind, v.Capture, v.Engine, len(found))
					return
				}
			}
			t.Errorf("%d programs do not notice that %s", mutationPrograms, m.Name)
		})
	}
}
