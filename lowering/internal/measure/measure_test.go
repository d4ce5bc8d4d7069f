package measure

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// forked is a step with three ways of which the last one's estimate is far off, on any processor.
type forked struct{ Way string }

func (f forked) Run(_ *kernel.Workspace, out, in []*array.Array) {
	for i, v := range array.Data[float32](in[0]) {
		array.Data[float32](out[0])[i] = v * array.Data[float32](in[1])[0]
	}
}

func (f forked) Ways(_, weight []int) (list []kernel.Way) {
	for i, name := range []string{"plain", "fast", "far"} {
		w := kernel.Way{Name: name, Cycles: 1000 * float64(weight[0]) * math.Pow(1.2, float64(i)), Step: &forked{name}, Pack: &laid{name}}
		if i == 0 {
			w.Step, w.Pack = &forked{}, &laid{}
		}
		list = append(list, w)
	}
	return list
}

// laid packs its weight.
type laid struct{ Way string }

func (laid) Run(_ *kernel.Workspace, out, in []*array.Array)   { array.Copy(out[0], in[0]) }
func (laid) Packed(a *array.Array) (d array.DType, dims []int) { return a.DType(), a.Shape() }

// net has a step for each number of elements, with a weight of as many.
func net(sizes ...int) *plan.Plan {
	p := &plan.Plan{}
	buffer := func(kind plan.Kind, n int) int {
		p.Buffers = append(p.Buffers, plan.Buffer{Name: fmt.Sprint("b", len(p.Buffers)), Kind: kind, Type: shape.TensorType(array.F32, shape.ConstDims(n))})
		return len(p.Buffers) - 1
	}
	for i, n := range sizes {
		w := buffer(plan.Weight, n)
		p.Buffers[w].Pack = &laid{}
		p.Steps = append(p.Steps, plan.Step{Kernel: &forked{}, In: []int{buffer(plan.Temp, n), w}, Out: []int{buffer(plan.Temp, n)}, Nodes: []string{fmt.Sprint("n", i)}})
	}
	return p
}

// ways are those of the steps.
func ways(t *testing.T, p *plan.Plan) (list []string) {
	for _, s := range p.Steps {
		list = append(list, s.Kernel.(*forked).Way)
		require.Equal(t, s.Kernel.(*forked).Way, p.Buffers[s.In[1]].Pack.(*laid).Way)
	}
	return list
}

// meter tells times by name, and counts the runs.
type meter struct {
	mu    sync.Mutex
	times map[string]time.Duration
	runs  map[string]int
}

func (m *meter) measure(what string, run func()) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if run(); m.runs == nil {
		m.runs = map[string]int{}
	}
	m.runs[what]++
	return m.times[what]
}

func by(plain, fast time.Duration) *meter {
	return &meter{times: map[string]time.Duration{"plain": plain, "fast": fast}}
}

func on(folder string) lowering.Options {
	return lowering.Options{Measure: lowering.Measure{On: true, Folder: folder}}
}

const ms = time.Millisecond

// Ways that are close run five times and once more that is not counted; one that is a twentieth faster is taken.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		plain, fast time.Duration
		want        string
	}{{1000, 950, "fast"}, {1000, 951, ""}, {1000, 1, "fast"}, {1000, 2000, ""}} {
		m, p := by(c.plain*time.Microsecond, c.fast*time.Microsecond), net(100)
		New(m.measure).Choose(p, on("-"), 1)
		require.Equal(t, []string{c.want}, ways(t, p))
		require.Equal(t, m.runs["plain"], m.runs["fast"])
		require.GreaterOrEqual(t, m.runs["fast"], 6)
		require.Zero(t, m.runs["far"])
		require.Len(t, p.Measured, 1)
		got := p.Measured[0]
		require.Equal(t, []string{"n0"}, got.Nodes)
		require.Equal(t, []plan.Timed{{Name: "plain", Time: c.plain * time.Microsecond}, {Name: "fast", Time: c.fast * time.Microsecond}}, got.Ways)
		require.False(t, got.Stored)
	}
}

// One run without a disturbance among many with one decides nothing.
func TestChoose_disturbed(t *testing.T) {
	calls := 0
	p := net(1)
	New(func(what string, run func()) time.Duration {
		if run(); what == "plain" {
			return ms
		}
		if what != "fast" {
			return 0
		}
		if calls++; calls == 3 {
			return ms / 2
		}
		return 2 * ms
	}).Choose(p, on("-"), 1)
	require.Equal(t, []string{""}, ways(t, p))
	require.Equal(t, ms/2, p.Measured[0].Ways[1].Time)
}

// Short steps run oftener, up to a bound, next to others that do not.
func TestChoose_short(t *testing.T) {
	m := by(300*time.Microsecond, 300*time.Microsecond)
	New(m.measure).Choose(net(1), on("-"), 1)
	require.Equal(t, 1+7, m.runs["plain"], "2 ms are over after seven")
	require.Equal(t, 1+7, m.runs["fast"])
	m = by(1, 1)
	New(m.measure).Choose(net(1), on("-"), 1)
	require.Equal(t, 1+mostRuns, m.runs["plain"])
	p := net(1, 2)
	runs := 0 // of two steps in turns: the heavier one is long
	New(func(what string, run func()) time.Duration {
		if run(); what == Between {
			return 0
		}
		if runs++; runs <= 4*6 && runs%2 == 1 {
			return 3 * map[string]time.Duration{"plain": 2, "fast": 1}[what] * ms
		}
		return map[string]time.Duration{"plain": 2, "fast": 1}[what]
	}).Choose(p, on("-"), 1)
	require.Equal(t, []string{"fast", "fast"}, ways(t, p))
	require.Equal(t, 4*6+2*(mostRuns-leastRuns), runs)
}

// Without the option, and where results are to be exact, rules choose and nothing runs.
func TestChoose_not(t *testing.T) {
	exact := on("-")
	exact.Exact = true
	for _, o := range []lowering.Options{{}, exact} {
		m, p := by(1000, 1), net(100)
		New(m.measure).Choose(p, o, 1)
		require.Equal(t, []string{""}, ways(t, p))
		require.Empty(t, p.Measured)
		require.Empty(t, m.runs)
	}
	for _, spoil := range []func(p *plan.Plan){
		func(p *plan.Plan) {
			open, err := shape.ParseType("f32[N]")
			require.NoError(t, err)
			p.Buffers[p.Steps[0].In[0]].Type = open
		},
		func(p *plan.Plan) { p.Buffers[p.Steps[0].In[1]].Pack = nil },
		func(p *plan.Plan) { p.Steps[0].In[1] = -1 },
		func(p *plan.Plan) {
			p.Buffers[p.Steps[0].Out[0]].Type = shape.TensorType(array.F32, shape.ConstDims(0))
		},
	} {
		m, p := by(1000, 1), net(100)
		spoil(p)
		New(m.measure).Choose(p, on("-"), 1)
		require.Empty(t, p.Measured)
		require.Empty(t, m.runs)
	}
}

// One process chooses once, one that comes later reads: of steps in bodies, too, and equal steps are one choice.
func TestChoose_once(t *testing.T) {
	dir := t.TempDir()
	m, p := by(ms, ms/2), net(100, 100, 200)
	p.Steps[2].Regions = []*plan.Plan{net(100)}
	c := New(m.measure)
	c.Choose(p, on(dir), 1)
	require.Equal(t, []string{"fast", "fast", "fast"}, ways(t, p))
	require.Equal(t, []string{"fast"}, ways(t, p.Steps[2].Regions[0]))
	require.Equal(t, 2*6, m.runs["plain"], "of two sizes")
	again := net(100)
	c.Choose(again, on(dir), 1)
	require.Equal(t, 2*6, m.runs["plain"])
	require.True(t, again.Measured[0].Stored)

	later := by(ms, 2*ms)
	for range 2 {
		p = net(200, 100)
		New(later.measure).Choose(p, on(dir), 1)
		require.Equal(t, []string{"fast", "fast"}, ways(t, p), "what was chosen before")
		require.Empty(t, later.runs)
		require.True(t, p.Measured[0].Stored)
		require.Equal(t, ms/2, p.Measured[0].Ways[1].Time)
	}
	p = net(100)
	New(later.measure).Choose(p, on(dir), 2)
	require.Equal(t, []string{""}, ways(t, p), "another number of threads")
	require.Equal(t, 6, later.runs["fast"])
}

// What is damaged, of another machine or no entry at all is measured and written again; what cannot be
// read or written is no error.
func TestChoose_folder(t *testing.T) {
	dir := t.TempDir()
	New(by(ms, ms/2).measure).Choose(net(100), on(dir), 1)
	files, err := filepath.Glob(filepath.Join(dir, "*.bin"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for _, text := range []string{"", "x", string(whole[:len(whole)-1]), string(whole[:32]) + "far", strings.Repeat("y", 100)} {
		require.NoError(t, os.WriteFile(files[0], []byte(text), 0o600))
		m, p := by(ms, ms/2), net(100)
		New(m.measure).Choose(p, on(dir), 1)
		require.Equal(t, []string{"fast"}, ways(t, p))
		require.Equal(t, 6, m.runs["fast"])
		now, err := os.ReadFile(files[0])
		require.NoError(t, err)
		require.Equal(t, whole, now)
	}
	// An entry that is signed as ours, but of other ways.
	key := strings.TrimSuffix(filepath.Base(files[0]), ".bin")
	for _, text := range []string{"other\nother 3\nplain 4", "far\nplain 4\nfast 3", "fast", "fast\nwithin 5", "fast\nplain x\nfast 3", "fast\nplain 1", "plain\nplain 1\nfast -3"} {
		lowering.Folder(dir).Save(key, []byte(text))
		p := net(100)
		New(by(ms, ms/2).measure).Choose(p, on(dir), 1)
		require.Equal(t, []string{"fast"}, ways(t, p))
		require.False(t, p.Measured[0].Stored, text)
		require.Equal(t, "fast\nfast 500000\nplain 1000000", string(lowering.Folder(dir).Load(key)))
	}
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, folder := range []string{file, filepath.Join(file, "below"), "/proc/none", "-"} {
		p := net(100)
		c := New(by(ms, ms/2).measure)
		c.Choose(p, on(folder), 1)
		require.Equal(t, []string{"fast"}, ways(t, p))
		c.meter = by(ms, 2*ms).measure
		p = net(100)
		c.Choose(p, on(folder), 1)
		require.Equal(t, []string{"fast"}, ways(t, p), "the process knows it")
	}
}

// Stored choices alone are read, and nothing is measured or written.
func TestChoose_stored(t *testing.T) {
	dir := t.TempDir()
	o := on(dir)
	o.Measure.Stored = true
	m, p := by(ms, ms/2), net(100)
	New(m.measure).Choose(p, o, 1)
	require.Equal(t, []string{""}, ways(t, p))
	require.Empty(t, m.runs)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
	require.Zero(t, p.Measured[0].Ways[0].Time)

	New(m.measure).Choose(net(100), on(dir), 1)
	p = net(100)
	New(by(ms, 2*ms).measure).Choose(p, o, 1)
	require.Equal(t, []string{"fast"}, ways(t, p))
}

// What there is no time or memory for stays as rules choose, for later programs with the same budget too; a larger
// budget measures it.
func TestChoose_budget(t *testing.T) {
	dir := t.TempDir()
	o := on(dir)
	o.Measure.Budget = 16 * ms
	m, p := by(ms, ms/2), net(100, 200, 300)
	New(m.measure).Choose(p, o, 1)
	require.Equal(t, []string{"", "", "fast"}, ways(t, p), "the heaviest first")
	require.Zero(t, p.Measured[1].Ways[0].Time)
	p = net(100)
	New(m.measure).Choose(p, o, 1)
	require.Equal(t, []string{""}, ways(t, p))
	require.True(t, p.Measured[0].Stored)
	o.Measure.Budget = 30 * ms
	p = net(100)
	New(m.measure).Choose(p, o, 1)
	require.Equal(t, []string{"fast"}, ways(t, p))
	o.Measure.Budget = 1
	p = net(100)
	New(m.measure).Choose(p, o, 1)
	require.Equal(t, []string{"fast"}, ways(t, p), "which a smaller one reads")

	tight := on("-")
	tight.MaxBytes = 1000
	m, p = by(ms, ms/2), net(100)
	New(m.measure).Choose(p, tight, 1)
	require.Equal(t, []string{""}, ways(t, p))
	require.Empty(t, m.runs["plain"])
	require.Zero(t, p.Measured[0].Ways[0].Time)
}

// Steps that read one packed weight are computed alike, and a plan of the same nodes follows.
func TestFollow(t *testing.T) {
	p := net(100, 100)
	p.Steps[1].In[1] = p.Steps[0].In[1]
	New(by(ms, ms/2).measure).Choose(p, on("-"), 1)
	require.Equal(t, []string{"fast", "fast"}, ways(t, p))
	require.Len(t, p.Measured, 1)
	require.Equal(t, []string{"n0", "n1"}, p.Measured[0].Nodes)

	p = net(100, 300)
	p.Steps[1].Regions = []*plan.Plan{net(100)}
	New(by(ms, ms/2).measure).Choose(p, on("-"), 1)
	p.Steps[1].Regions[0].Measured[0].Chosen = 0
	q := net(100, 50, 3)
	q.Steps[1].Regions = []*plan.Plan{net(7)}
	q.Steps[2].Regions = []*plan.Plan{net(7)}
	Follow(q, p)
	require.Equal(t, []string{"fast", "fast", ""}, ways(t, q))
	require.Equal(t, []string{""}, ways(t, q.Steps[1].Regions[0]), "a node of a body has the name of one around it")
	p.Steps[1].Regions[0].Measured[0].Chosen = 1
	Follow(q, p)
	require.Equal(t, []string{"fast"}, ways(t, q.Steps[1].Regions[0]))
	require.Equal(t, []string{""}, ways(t, q.Steps[2].Regions[0]))
	Follow(q, net(100))
	require.Equal(t, []string{"fast", "fast", ""}, ways(t, q))
}

// Many compile at once, in one process and in several: all choose alike.
func TestChoose_concurrent(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	got := make([][]string, 16)
	shared := New(by(ms, ms/2).measure)
	for i := range got {
		wg.Go(func() {
			c := shared
			if i%2 == 0 { // another process; one half of them would choose otherwise
				m := by(ms, ms/2)
				if i%4 == 0 {
					m = by(ms, 2*ms)
				}
				c = New(m.measure)
			}
			p := net(100, 200)
			c.Choose(p, on(dir), 1)
			got[i] = ways(t, p)
		})
	}
	wg.Wait()
	for _, list := range got {
		require.Equal(t, got[0], list)
	}
}

// The clock measures.
func TestClock(t *testing.T) {
	ran := false
	require.GreaterOrEqual(t, Clock("", func() { ran = true }), time.Duration(0))
	require.True(t, ran)
	p := net(64)
	New(Clock).Choose(p, on("-"), 2)
	require.Positive(t, p.Measured[0].Ways[0].Time)
}
