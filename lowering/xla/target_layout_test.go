//go:build (linux || darwin) && (amd64 || arm64) && !android

package xla_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
)

const rows = `
graph rows(%x: f32[4,3]) {
  %w = get_attr[w] : f32[3]
  %y = call_function[add](%x, %w) : f32[4,3]
  return %y
}
param w : f32[3]
`

// byRows cuts the first dimension of x in two.
var byRows = &shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Inputs: map[string]shard.Split{"x": {"data", ""}}}

func numbers(dims ...int) *array.Array {
	a := array.New(array.F32, dims...)
	for i := range a.Len() {
		array.SetFloat64At(a, i, float64(i))
	}
	return a
}

// Each device has its rows and a copy of the weight, which goes there once; the result is put together.
func TestLayoutCutsAndPutsTogether(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: byRows}, parse(t, rows), lowering.Options{})
	require.Equal(t, int64(2), r.Client().Stats().Uploads, "a copy of the weight for each device")
	require.Contains(t, f.text(), `mhlo.num_partitions = 2 : i32`)
	for range 3 {
		out, err := e.Run(ctx, []*array.Array{numbers(4, 3)})
		require.NoError(t, err)
		require.Equal(t, []int{4, 3}, out[0].Shape())
		require.Equal(t, []float32{1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14}, array.Data[float32](out[0]))
	}
	for device, want := range [][]float32{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}} {
		dims, data := f.argument(t, device, 0)
		require.Equal(t, []int{2, 3}, dims)
		require.Equal(t, want, data)
		dims, data = f.argument(t, device, 1)
		require.Equal(t, []int{3}, dims)
		require.Equal(t, []float32{1, 2, 3}, data)
	}
	s := r.Client().Stats()
	require.Equal(t, []int64{2 + 3*2, 3 * 2, 3, 1}, []int64{s.Uploads, s.Downloads, s.Executions, s.Compilations})
	require.Equal(t, 3, s.Live, "the copies of the weight and the program")
	require.Equal(t, xla.RunStats{Own: 3}, bounds(e))
}

// tiled is a sum of two matrices over a mesh, with layouts of all three.
func tiled(t testing.TB, mesh shard.Mesh, x, z, y shard.Split) (*graph.Module, *shard.Layout) {
	m := parse(t, `
graph sum(%x: f32[4,6]) {
  %w = get_attr[w] : f32[4,6]
  %y = call_function[add](%x, %w) : f32[4,6]
  return %y
}
param w : f32[4,6]
`)
	return m, &shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"x": x}, Weights: map[string]shard.Split{"w": z}, Values: map[string]shard.Split{"y": y}}
}

// On meshes of one to three axes each device has the part that its place in the mesh says, of inputs and
// of weights, whichever order the plugin lists its devices in.
func TestLayoutsOfManyAxes(t *testing.T) {
	for _, flags := range [][]string{{"-DFAKE_DEVICES=8"}, {"-DFAKE_DEVICES=8", "-DFAKE_REVERSED"}} {
		f := plugin(t, flags...)
		r := runtimeOf(t, f)
		random := rand.New(rand.NewPCG(3, 4))
		cut := 0
		for range 60 {
			var mesh shard.Mesh
			for i := range 1 + random.IntN(3) {
				mesh = append(mesh, shard.Axis{Name: string(rune('a' + i)), Size: 1 + min(1, random.IntN(4))})
			}
			split := shard.Split{"", ""}
			for i, k := range random.Perm(len(mesh))[:random.IntN(min(len(mesh), 2)+1)] {
				split[(i+random.IntN(2))%2] = mesh[k].Name
			}
			m, l := tiled(t, mesh, split, split, split)
			e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: l}, m, lowering.Options{})
			x := numbers(4, 6)
			out, err := e.Run(ctx, []*array.Array{x})
			require.NoError(t, err)
			for i := range x.Len() {
				require.Equal(t, float64(2*i+1), array.Float64At(out[0], i), "%v %v", mesh, split)
			}
			for device := range mesh.Partitions() {
				begin, dims := coordinates(mesh, split, device, 4, 6)
				for arg, plus := range []float32{0, 1} {
					size, data := f.argument(t, device, arg)
					require.Equal(t, dims, size)
					for i, v := range data {
						at := (begin[0]+i/dims[1])*6 + begin[1] + i%dims[1]
						require.Equal(t, float32(at)+plus, v, "%v %v: device %d, argument %d", mesh, split, device, arg)
					}
				}
			}
			if split.Cuts() && mesh.Partitions() > 2 {
				cut++
			}
		}
		require.Greater(t, cut, 10)
	}
}

// coordinates says from the definition of a mesh which part a partition has.
func coordinates(mesh shard.Mesh, split shard.Split, partition int, sizes ...int) (begin, dims []int) {
	at := map[string]int{}
	of := map[string]int{}
	for k := len(mesh) - 1; k >= 0; k-- {
		of[mesh[k].Name] = mesh[k].Size
		at[mesh[k].Name] = partition % mesh[k].Size
		partition /= mesh[k].Size
	}
	for d, n := range sizes {
		k := max(of[split[d]], 1)
		dims = append(dims, n/k)
		begin = append(begin, at[split[d]]*n/k)
	}
	return begin, dims
}

// A mesh needs as many devices of this process as it has partitions.
func TestLayoutNeedsDevices(t *testing.T) {
	f := plugin(t)
	big := &shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}, {Name: "model", Size: 2}}}
	_, err := xla.Target{Plugin: f.path, Cache: "-", Layout: big}.Compile(parse(t, rows), lowering.Options{})
	require.ErrorIs(t, err, lowering.BadOption)
	require.ErrorContains(t, err, "the mesh has 4 partitions (data=2 model=2), devices of the client that this process can use: 2 [")
	require.Equal(t, [6]int64{}, f.alive())

	f = plugin(t, "-DFAKE_DEVICES=4", "-DFAKE_FOREIGN=3")
	_, err = xla.Target{Plugin: f.path, Cache: "-", Layout: byRows}.Compile(parse(t, rows), lowering.Options{})
	require.ErrorContains(t, err, "the mesh has 2 partitions (data=2), devices of the client that this process can use: 1, and 3 of other processes")
	compileFor(t, xla.Target{Plugin: f.path, Cache: "-"}, parse(t, rows), lowering.Options{})

	f = plugin(t, "-DFAKE_DEVICES=4", "-DFAKE_FOREIGN=2")
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-", Layout: byRows}, parse(t, rows), lowering.Options{})
	_, err = e.Run(ctx, []*array.Array{numbers(4, 3)})
	require.NoError(t, err)
}

func TestLayoutsAreChecked(t *testing.T) {
	f := plugin(t)
	for _, l := range []*shard.Layout{
		{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Inputs: map[string]shard.Split{"z": {"data", ""}}},
		{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Inputs: map[string]shard.Split{"x": {"", "data"}}},
		{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Weights: map[string]shard.Split{"v": {"data"}}},
	} {
		_, err := xla.Target{Plugin: f.path, Cache: "-", Layout: l}.Compile(parse(t, rows), lowering.Options{})
		require.ErrorIs(t, err, shard.BadLayout)
	}
	_, err := xla.Target{Plugin: f.path, Cache: "-", Layout: byRows, Bounds: map[string]int{"N": 4}}.Compile(parse(t, symbolic), lowering.Options{})
	require.ErrorIs(t, err, lowering.BadOption)
	require.ErrorContains(t, err, "a target takes one")
	require.Equal(t, [6]int64{}, f.alive())
}

// Weights that are written, or replaced, go to all devices again.
func TestWeightsOfLayoutsFollowTheModel(t *testing.T) {
	f := plugin(t)
	m, l := tiled(t, shard.Mesh{{Name: "data", Size: 2}}, shard.Split{"data", ""}, shard.Split{"data", ""}, shard.Split{"data", ""})
	r := runtimeOf(t, f)
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: l}, m, lowering.Options{})
	zero := array.New(array.F32, 4, 6)
	require.Equal(t, float32(24), run1(t, e, zero)[23])
	array.Copy(m.Param("w").Value, numbers(4, 6))
	m.Param("w").Value.Storage().Bump()
	require.Equal(t, array.Data[float32](numbers(4, 6)), run1(t, e, zero))

	text := strings.Replace(rows, "get_attr[w] :", "get_attr[w] live :", 1)
	m = parse(t, text)
	e = compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: byRows}, m, lowering.Options{})
	uploads := r.Client().Stats().Uploads
	require.Equal(t, []float32{1, 2, 3}, run1(t, e, array.New(array.F32, 4, 3))[9:])
	m.Param("w").Value = floats(8, 9, 10)
	require.Equal(t, []float32{8, 9, 10}, run1(t, e, array.New(array.F32, 4, 3))[9:])
	require.Equal(t, uploads+2*(2+2), r.Client().Stats().Uploads)
	m.Param("w").Value = nil
	_, err := e.Run(ctx, []*array.Array{numbers(4, 3)})
	require.ErrorIs(t, err, interp.GuardFailed)
}

// Values stay on the devices in parts; donated ones are given up on all of them.
func TestPartsStayOnTheDevices(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	l := &shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Inputs: map[string]shard.Split{"x": {"data"}, "z": {"data"}}}
	text := strings.ReplaceAll(strings.Replace(symbolic, "  symbol N = dim(%x, 0)\n", "", 1), "[N]", "[4]")
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: l}, parse(t, text), lowering.Options{Donate: []int{0}}).(lowering.Resident)
	require.Contains(t, f.text(), `%arg0: tensor<4xf32> {jax.buffer_donor = true, mhlo.sharding = "{devices=[2]<=[2]}"}`)
	x, err := e.Put(ctx, floats(1, 2, 3, 4))
	require.NoError(t, err)
	require.Equal(t, int64(2), r.Client().Stats().Uploads)
	y, err := e.RunValues(ctx, []lowering.Value{x, lowering.Host(floats(10, 20, 30, 40))})
	require.NoError(t, err)
	require.Equal(t, "1 ", f.kept())
	_, err = x.Array(ctx)
	require.Error(t, err, "it belongs to the run")
	z, err := e.RunValues(ctx, []lowering.Value{y[0], y[0]})
	require.NoError(t, err)
	s := r.Client().Stats()
	require.Equal(t, []int64{4, 0}, []int64{s.Uploads, s.Downloads})
	a, err := z[0].Array(ctx)
	require.NoError(t, err)
	require.Equal(t, []float32{22, 44, 66, 88}, array.Data[float32](a))

	// a value that lies whole on the first device, and one in parts for a program of one device
	one := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, parse(t, text), lowering.Options{}).(lowering.Resident)
	w, err := one.Put(ctx, floats(1, 1, 1, 1))
	require.NoError(t, err)
	u, err := one.RunValues(ctx, []lowering.Value{z[0], w})
	require.NoError(t, err)
	v, err := e.RunValues(ctx, []lowering.Value{u[0], w})
	require.NoError(t, err)
	a, err = v[0].Array(ctx)
	require.NoError(t, err)
	require.Equal(t, []float32{24, 46, 68, 90}, array.Data[float32](a))
	for _, left := range []lowering.Value{z[0], w, v[0]} {
		require.NoError(t, left.Close())
	}
	require.Equal(t, 2, r.Client().Stats().Live, "the programs alone")
}

// Each size of a symbol has a plan of its own; one that has no equal parts is an error of that run.
func TestLayoutsOfSymbols(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	l := &shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Inputs: map[string]shard.Split{"x": {"data"}}}
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: l}, parse(t, symbolic), lowering.Options{})
	require.Equal(t, []float32{4, 6}, run1(t, e, floats(1, 2), floats(3, 4)))
	_, err := e.Run(ctx, []*array.Array{floats(1, 2, 3), floats(3, 4, 5)})
	require.ErrorIs(t, err, shard.BadLayout)
	require.Equal(t, []float32{2, 4, 6, 8}, run1(t, e, floats(1, 2, 3, 4), floats(1, 2, 3, 4)))
	require.Equal(t, 2, r.Stats().Compiles)
}

// What is wrong with a layout for all sizes is told when it is compiled, at once and at its lines; a size is
// told by the run that has it.
func TestLayoutsOfSymbolsAreChecked(t *testing.T) {
	f := plugin(t)
	l := &shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Inputs: map[string]shard.Split{"x": {"row"}, "z": {"data", ""}},
		Values: map[string]shard.Split{"sum": {"data"}}}
	_, err := xla.Target{Plugin: f.path, Cache: "-", Layout: l}.Compile(parse(t, symbolic), lowering.Options{})
	require.ErrorIs(t, err, shard.BadLayout)
	for _, want := range []string{`the graph has no call "sum"`, `input x is f32[N]: the mesh has no axis "row"`, "input z is f32[N]: the split has 2 dimensions"} {
		require.ErrorContains(t, err, want)
	}
	l = &shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}, {Name: "row", Size: 1}}, Inputs: map[string]shard.Split{"x": {"row"}, "z": {"data"}}}
	_, err = xla.Target{Plugin: f.path, Cache: "-", Layout: l}.Compile(parse(t, symbolic), lowering.Options{})
	require.ErrorIs(t, err, shard.Conflict)
	require.Equal(t, [6]int64{}, f.alive())
}

// Programs of many devices are kept on disk, by the devices they are for.
func TestProgramsOfLayoutsAreKeptOnDisk(t *testing.T) {
	f := plugin(t)
	cache := t.TempDir()
	at := func(l *shard.Layout) xla.Stats {
		r, err := xla.NewRuntime(f.path)
		require.NoError(t, err)
		defer r.Close()
		e, err := xla.Target{Runtime: r, Cache: cache, Layout: l}.Compile(parse(t, rows), lowering.Options{})
		require.NoError(t, err)
		require.Equal(t, []float32{1, 2, 3}, run1(t, e, array.New(array.F32, 4, 3))[9:])
		require.NoError(t, e.Close())
		return r.Stats()
	}
	require.Equal(t, xla.Stats{Compiles: 1, Kept: 1}, at(byRows))
	require.Equal(t, xla.Stats{Loaded: 1, Kept: 1}, at(byRows))
	require.Equal(t, xla.Stats{Compiles: 1, Kept: 1}, at(nil))
	require.Equal(t, xla.Stats{Compiles: 1, Kept: 1}, at(&shard.Layout{Mesh: byRows.Mesh}))
}

// What fails on one of the devices frees what is on the others.
func TestFailuresOfOneDevice(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	target := xla.Target{Runtime: r, Cache: "-", Layout: byRows}
	e := compileFor(t, target, parse(t, rows), lowering.Options{})
	live := r.Client().Stats().Live
	for _, name := range []string{"PJRT_LoadedExecutable_Execute", "PJRT_Client_BufferFromHostBuffer", "PJRT_Buffer_ToHostBuffer", "PJRT_Buffer_Dimensions"} {
		f.fail(name, 13, "broken")
		_, err := e.Run(ctx, []*array.Array{numbers(4, 3)})
		require.ErrorContains(t, err, "broken", name)
		require.Equal(t, live, r.Client().Stats().Live, name)
	}
	out := run1(t, e, numbers(4, 3))
	require.Equal(t, float32(14), out[11])
	require.NoError(t, e.Close())
	_, err := e.Run(ctx, []*array.Array{numbers(4, 3)})
	require.ErrorIs(t, err, lowering.Closed)
}

func TestManyGoroutinesShareDevices(t *testing.T) {
	f := plugin(t)
	m := parse(t, rows)
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-", Layout: byRows}, m, lowering.Options{})
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 10 {
				require.Equal(t, []float32{1, 3, 5, 4, 6, 8, 7, 9, 11, 10, 12, 14}, run1(t, e, numbers(4, 3)))
				m.Param("w").Value.Storage().Bump() // as if it was written: uploaded again
			}
		})
	}
	wg.Wait()
}

// Layouts have the names of the graph that is compiled, before it is prepared, and go with chosen results.
// The target has a copy of them.
func TestLayoutsNameTheCallersGraph(t *testing.T) {
	f := plugin(t)
	m := parse(t, `
graph g(%x: f32[N,3]) {
  symbol N = dim(%x, 0)
  %h = call_method[add](%x, %x) : f32[N,3]
  %y = call_method[add](%h, %x) : f32[N,3]
  return (%y, %h)
}
`)
	l := &shard.Layout{Mesh: shard.Mesh{{Name: "data", Size: 2}}, Values: map[string]shard.Split{"h": {"data", ""}}}
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-", Layout: l}, m, lowering.Options{Outputs: []int{1}})
	clear(l.Values)
	l.Mesh[0].Size = 1
	require.Equal(t, []float32{0, 2, 4, 6, 8, 10}, run1(t, e, numbers(2, 3)))
	require.Contains(t, f.text(), `-> (tensor<2x3xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"})`)
}

// Tensors of all kinds are cut and put together, also by several axes at once and where an axis is not used;
// inputs that are not given have their default. This program of the plugin returns what it is given.
func TestLayoutsOfManyTensors(t *testing.T) {
	f := plugin(t, "-DFAKE_DEVICES=8", "-DFAKE_REVERSED")
	m := parse(t, `
graph identity(%a: i64[4,2], %b: bool[2,6], %c: f32[], %d: f64[0,4], %e: u8[2,2,2]) {
  return (%a, %b, %c, %d, %e)
}
`)
	l := &shard.Layout{Mesh: shard.Mesh{{Name: "p", Size: 2}, {Name: "q", Size: 2}}, Inputs: map[string]shard.Split{
		"a": {"q", "p"}, "b": {"", "q"}, "d": {"p", "q"}, "e": {"q", "", "p"}}}
	for _, layout := range []*shard.Layout{l, {}, {Mesh: shard.Mesh{{Name: "one", Size: 1}}}, {Mesh: l.Mesh}} {
		e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-", Layout: layout}, m, lowering.Options{})
		in := []*array.Array{array.New(array.I64, 4, 2), array.New(array.Bool, 2, 6), array.Scalar(float32(7)), array.New(array.F64, 0, 4), array.New(array.U8, 2, 2, 2)}
		for _, a := range in {
			for i := range a.Len() {
				array.SetFloat64At(a, i, float64((i*5+1)%7))
				if a.DType() == array.Bool {
					array.SetFloat64At(a, i, float64(i%3/2))
				}
			}
		}
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		for i := range in {
			require.True(t, array.Equal(in[i], out[i]), "%s: %s, expected %s", layout.Mesh, array.Format(out[i], 20), array.Format(in[i], 20))
		}
	}
}

// Of a weight that is stored in parts each device has its own, however calls use it.
func TestStoredPartsOfWeights(t *testing.T) {
	f := plugin(t)
	m := parse(t, strings.NewReplacer("[4,3]", "[2,4]", "[3]", "[4]").Replace(rows))
	l := &shard.Layout{Mesh: byRows.Mesh, Inputs: byRows.Inputs, Stored: map[string]shard.Split{"w": {"data"}}}
	e := compileFor(t, xla.Target{Plugin: f.path, Cache: "-", Layout: l}, m, lowering.Options{})
	out, err := e.Run(ctx, []*array.Array{numbers(2, 4)})
	require.NoError(t, err)
	require.Equal(t, []int{2, 4}, out[0].Shape())
	for device, want := range [][]float32{{1, 2}, {3, 4}} {
		_, data := f.argument(t, device, 1)
		require.Equal(t, want, data)
	}
}
