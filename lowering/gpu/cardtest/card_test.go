package cardtest

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
)

var (
	suiteFile = flag.String("suite", "", "read the suite from this `file` instead of the binary")
	runs      = flag.Int("runs", 50, "how often a network is timed")
	rowsFile  = flag.String("rows", "", "write the rows of the table into this `file`, a line of JSON each")
)

// given returns the suite of this process, and why there is none where it is nil.
func given(t *testing.T) (s *suite, why string) {
	data := embedded
	if *suiteFile != "" {
		var err error
		data, err = os.ReadFile(*suiteFile)
		require.NoError(t, err)
	}
	if data == nil {
		return nil, "no suite is in this binary: make card builds one that has it"
	}
	s, err := readSuite(data)
	require.NoError(t, err)
	return s, ""
}

// TestCard runs the suite on the machine's first CUDA device, and prints a table of times.
func TestCard(t *testing.T) {
	s, why := given(t)
	if s == nil {
		t.Skip(why)
	}
	d, err := gpu.Open("cuda")
	if err != nil {
		require.ErrorIs(t, err, gpu.NoDevice)
		if why := gpu.Absent()[gpu.CUDA]; why != nil { // where there are other devices, err lists them
			err = why
		}
		t.Skip(strings.ReplaceAll(err.Error(), "\n", " "))
	}
	p, err := gpu.ReadPack(s.Pack)
	require.NoError(t, err)
	known := catalogue()
	ways := []way{{"pack", gpu.Target{Device: d, Cache: "-", NoLibraries: true, Pack: p}}}
	if strings.Contains(d.Info().Driver, "NVRTC") { // as a user has it who installed the toolkit
		ways = append(ways, way{"installed", gpu.Target{Device: d, Cache: "-"}})
	}
	var table []*row
	keep := rowsTo(t)
	for _, e := range s.Jobs {
		j := known[e.Name]
		require.NotNil(t, j, "%s: no such job; the suite is of another version", e.Name)
		var b *built // for both ways: the weights of a network take longer than its runs
		for _, w := range ways {
			t.Run(e.Name+"/"+w.name, func(t *testing.T) {
				if b == nil {
					b, err = j.built(context.Background())
					require.NoError(t, err)
				}
				r := newRow(j, w, d.Info())
				table = append(table, r)
				if err := r.fill(context.Background(), j, b, e.Results, w.target, *runs); err != nil {
					r.Wrong = err.Error()
					t.Error(err)
				}
				keep(r)
			})
		}
	}
	_, err = os.Stdout.WriteString(report(d.Info(), table, time.Now()))
	require.NoError(t, err)
}

// rowsTo returns a function that writes a row into the file of -rows at once, so that a run that is cut short
// leaves those that it has.
func rowsTo(t *testing.T) func(*row) {
	if *rowsFile == "" {
		return func(*row) {}
	}
	f, err := os.Create(*rowsFile)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	e := json.NewEncoder(f)
	return func(r *row) { require.NoError(t, e.Encode(r)) }
}

// TestSuiteIsWhole looks the kernels of all programs up, which needs no card: sources must be the same
// in every process.
func TestSuiteIsWhole(t *testing.T) {
	s, why := given(t)
	if s == nil {
		t.Skip(why)
	}
	p, err := gpu.ReadPack(s.Pack)
	require.NoError(t, err)
	known := catalogue()
	for _, e := range s.Jobs {
		j := known[e.Name]
		require.NotNil(t, j, e.Name)
		m, in, err := j.build(context.Background())
		require.NoError(t, err, e.Name)
		require.Len(t, m.Graph.Inputs(), len(in))
		text, err := j.target().Text(m, lowering.Options{}, gpu.CUDA)
		require.NoError(t, err, e.Name)
		require.True(t, p.Has(text), "%s: the suite has other kernels", e.Name)
	}
}

// catalogue returns all jobs by name.
func catalogue() map[string]*job {
	known := map[string]*job{}
	for _, j := range jobs() {
		known[j.Name] = j
	}
	return known
}
