package codegen_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// texts are graphs in forms that people do not write by hand, but passes,
// importers and other front ends make.
var texts = map[string]string{
	"sizes that are expressions": `graph g(%x: f32[N,S]) {
  %z = call_function[zeros]() {size=[2*N+1,(N+1)//2,7//N,N*S-N//S]}
  %e = call_method[unsqueeze](%x) {dim=0}
  %y = call_method[expand](%e) {shape=[N,N,S]}
  %s = call_method[slice](%y) {dim=1, start=1, stop=9223372036854775807}
  return (%z, %s)
}`,
	"a loop with a bound": `graph g(%x: f32[4]) {
  %l = call_function[while](%x) {carry=1, max_trips=7} : (f32[4]) {
    region more(%a: f32[4]) {
      %s = call_function[sum](%a)
      %y = call_function[lt](%s) {other=9.0}
      return (%y)
    }
    region body(%a: f32[4]) {
      %y = call_function[add](%a) {other=1.0}
      return (%y)
    }
  }
  %y = call_function[getitem](%l) {index=0}
  return %y
}`,
	"symbols of values that data decides": `graph g(%x: f32[N], %w: ?[*]) {
  symbol s0 = dim(%w, 0)
  %v = call_function[relu](%w)
  symbol s1 = dim(%v, 1)
  %r = call_method[reshape](%x) {shape=[N,1]}
  %y = call_function[zeros]() {size=[s1]}
  return (%r, %y)
}`,
	"absent operands that are written": `graph g(%x: f32[N,3], %w: f32[4,3]) {
  %y = call_function[linear](%x, %w, _)
  %z = call_function[linear](%x, %w)
  return (%y, %z)
}`,
	"values that nothing uses": `graph g(%x: f32[N,3]) {
  %w = get_attr[w] : f32[3]
  %dead = call_method[neg](%x)
  %static = call_function[neg](%w)
  %top = call_function[topk](%x) {k=1}
  %i = call_function[getitem](%top) {index=1}
  %more = call_function[topk](%x) {k=2}
  return %i
}
param w : f32[3]`,
	"names of every kind": `graph type(%range: f32[3], %tensor: f32[3], %m: f32[3], %x_1 "x y": f32[3], %array: f32[3], %string: f32[3]) {
  %func = call_function[add](%range, %tensor) in "a b.type \t*/ x" "p/q.T"
  %in = call_function[add](%func, %m)
  %op = call_function[add](%in, %x_1)
  %Model = call_function[add](%op, %array)
  %_ = call_function[add](%Model, %string)
  %v = get_attr["0.π-weight/a b"] : f32[1]
  %_1 = call_function[add](%_, %v)
  %u = get_attr["0.π-weight/a-b"] : f32[1]
  %nil = call_function[add](%_1, %u)
  return %nil
}
param "0.π-weight/a b" : f32[1]
param "0.π-weight/a-b" : f32[1] buffer`,
	"state in every position": `graph g(%x: f32[3]) {
  %w = get_attr[w] : f32[3]
  %t = call_method[neg](%w)
  %a = call_function[add](%w, %x)
  %b = call_method[add](%w, %x)
  %s = call_function[maximum](%w, %w)
  %c = call_function[topk](%w) {k=1}
  %c0 = call_function[getitem](%c)
  return (%w, %t, %a, %b, %s, %c0)
}
param w : f32[3]`,
	"a branch on state": `graph g(%x: f32[3]) {
  %w = get_attr[w] : f32[3]
  %s = call_function[sum](%x)
  %p = call_function[gt](%s) {other=0.0}
  %c = call_function[cond](%p, %w, %x) : (f32[3], f32[3]) {
    region then(%a: f32[3], %next: f32[3]) {
      %out = call_function[add](%a, %next)
      return (%out, %a)
    }
    region else(%a: f32[3], %next: f32[3]) {
      %v = get_attr[v] : f32[3]
      %y = call_function[mul](%v, %next)
      return (%y, %next)
    }
  }
  %i = call_function[getitem](%c)
  %j = call_function[getitem](%c) {index=1}
  return (%i, %j)
}
param w : f32[3]
param v : f32[3]`,
	"a scan that names its values as Go code does": `graph g(%x: f32[T,3]) {
  %z = call_function[zeros]() {size=[3]}
  %w = get_attr[w] : f32[3]
  %n = call_function[neg](%w)
  %scan = call_function[scan](%z, %x, %n) {carry=1, seqs=1} : (f32[3], f32[T,3]) {
    region body(%carry: f32[3], %slices: f32[3], %n: f32[3]) {
      %next = call_function[add](%carry, %slices)
      %out = call_function[mul](%next, %n)
      return (%next, %out)
    }
  }
  %i = call_function[getitem](%scan) {index=1}
  return %i
}
param w : f32[3]`,
	"results in lists and maps": `graph g(%x: f32[3]) {
  %y = call_function[neg](%x)
  return ([%x, [%y]], {"b": nil, "k\n1": %y})
}`,
	"numbers of every kind": `graph g(%x: f32[3], %i: i64[3]) {
  %a = call_method[clamp](%x) {max=inf}
  %b = call_method[mul](%a) {other=-0.0}
  %c = call_method[add](%b) {other=1e-300}
  %d = call_method[sub](%i) {other=-3, reverse=true}
  %e = call_function[add](%c, %d) {alpha=0.5}
  %f = call_method[clamp](%e) {min=nan}
  return %f
}`,
}

func textModule(t *testing.T, text string) *graph.Module {
	t.Helper()
	m := parse(t, "gofx 1\n"+text+"\n")
	for _, p := range m.Params() {
		q := *p
		_, dims, _ := p.Type.Concrete()
		q.Value = array.New(array.F32, dims...)
		m.SetParam(q)
	}
	return m
}

func TestTextsArePrintedAsTheyTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: compiles a package")
	}
	var list []printed
	for _, what := range slices.Sorted(maps.Keys(texts)) {
		list = append(list, printed{what, textModule(t, texts[what])})
	}
	traceBack(t, list)
}

func TestTheSameGraphGivesTheSameBytes(t *testing.T) {
	print := func() string {
		var all strings.Builder
		for _, what := range slices.Sorted(maps.Keys(texts)) {
			files, err := codegen.Module(textModule(t, texts[what]), codegen.ModuleOptions{Weights: true})
			require.NoError(t, err)
			for _, f := range files.List {
				all.WriteString(f.Name)
				all.Write(f.Data)
			}
		}
		return all.String()
	}
	want := print()
	t.Chdir(t.TempDir())
	t.Setenv("TZ", "Asia/Tokyo")
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	for i := range 20 {
		runtime.GOMAXPROCS(1 + i%4)
		require.Equal(t, want, print())
	}
}

func TestPositionsAndScopesThatNobodyReadsChangeNoByte(t *testing.T) {
	text := "graph g(%x: f32[3]) {\n  %y = call_function[neg](%x) in \"a\" \"p/q.T\" at \"net.go:LINE\" \"p/q.(*T).Forward\"\n  return %y\n}"
	var first []byte
	for _, line := range []string{"7", "8"} {
		files, err := codegen.Module(textModule(t, strings.ReplaceAll(text, "LINE", line)), codegen.ModuleOptions{})
		require.NoError(t, err)
		if first == nil {
			first = files.List[0].Data
		}
		require.Equal(t, string(first), string(files.List[0].Data))
		require.Contains(t, string(first), "// a (T)\n")
	}
}

func TestEjectedCodeMayBeEditedAndImportsNothingInternal(t *testing.T) {
	list, err := filepath.Glob("internal/golden/mlp_with_state_of_its_own/*.go")
	require.NoError(t, err)
	src, err := os.ReadFile(list[0])
	require.NoError(t, err)
	require.NotContains(t, string(src), "DO NOT EDIT")
	require.NotContains(t, string(src), "/internal/")
	kept, err := os.ReadFile("internal/golden/mlp/model.go")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(kept), "// "+codegen.Header+"\n"))
}

func TestModule_weightsNextToOwnState(t *testing.T) {
	m := textModule(t, texts["state in every position"])
	files, err := codegen.Module(m, codegen.ModuleOptions{Weights: true})
	require.NoError(t, err)
	require.NotNil(t, files.Get("weights.safetensors"))
	p := *m.Param("w")
	p.Value, p.Type = nil, p.TypeOf()
	m.SetParam(p)
	_, err = codegen.Module(m, codegen.ModuleOptions{Weights: true})
	require.ErrorIs(t, err, graph.WeightMissing)
}

// wrapper is a module that only its own package can name.
type wrapper struct{ Fc *nn.Linear }

// Forward runs one layer.
func (m *wrapper) Forward(x *tensor.Tensor) *tensor.Tensor { return m.Fc.Forward(x) }

func TestModule_unexportedNamesInTheModelsPackage(t *testing.T) {
	m := &wrapper{nn.NewLinear(3, 2, nn.NoInit())}
	gm, err := fx.Trace(context.Background(), m, fx.Input("x", "f32[N,3]"))
	require.NoError(t, err)
	path := reflect.TypeFor[wrapper]().PkgPath()
	files, err := codegen.Module(gm.Module, codegen.ModuleOptions{Root: m, Path: path, Package: "net"})
	require.NoError(t, err)
	require.Contains(t, string(files.List[0].Data), "func Forward(m *wrapper, x *tensor.Tensor) *tensor.Tensor {\n\ttensor.Expect(\"x: f32[N,3]\", x)\n\tfc := m.Fc.Forward(x)")
	require.NotContains(t, string(files.List[0].Data), path)

	// A weight that is another one now is noticed: the code has a state of its own.
	m.Fc.Weight = tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	files, err = codegen.Module(gm.Module, codegen.ModuleOptions{Root: m, Path: path, Package: "net"})
	require.NoError(t, err)
	require.Contains(t, string(files.List[0].Data), "func (m *Model) Forward(x *tensor.Tensor) *tensor.Tensor {")
	require.Contains(t, string(files.List[0].Data), "tensor fc.weight of module fc has another value in wrapper")
}

func TestLongFunctionsAreSplit(t *testing.T) {
	bert := models.NewBert(models.BertConfig{VocabSize: 5, MaxPositions: 4, TypeVocabSize: 2, HiddenSize: 4, NumLayers: 12, NumHeads: 2,
		IntermediateSize: 4, LayerNormEps: 1e-12})
	gm, err := fx.Trace(context.Background(), bert, fx.Input("input_ids", "i64[N,S]"), fx.Input("attention_mask", "i64[N,S]"))
	require.NoError(t, err)
	require.Greater(t, gm.Graph.Len(), 200)
	files, err := codegen.Module(gm.Module, codegen.ModuleOptions{Root: bert})
	require.NoError(t, err)
	f, err := parser.ParseFile(token.NewFileSet(), "model.go", files.List[0].Data, 0)
	require.NoError(t, err)
	most := 0
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			most = max(most, len(fn.Body.List))
		}
	}
	require.LessOrEqual(t, most, 201)
	require.Contains(t, string(files.List[0].Data), "func forwardEncoderLayer")
}
