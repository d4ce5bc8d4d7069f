package onnx

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
)

// hostile is a recipe of testdata/hostile/*.txt: a hostile file, and the expected outcome.
//
//	=== name: outcome
//	# why it is hostile
//	the model in ONNX's text syntax, or "bytes" and hexadecimal digits
//
// The outcome is a code and a part of the message, or "imports" and the outcome
// of a run on zeros: "runs", or "refused with" a code. Recipes are templates
// (recipeFuncs), so that repeated parts are short.
type hostile struct{ name, outcome, recipe string }

func hostileFiles(t testing.TB) (all []hostile) {
	files, err := filepath.Glob("testdata/hostile/*.txt")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, part := range strings.Split("\n"+string(text), "\n=== ")[1:] {
			head, body, _ := strings.Cut(part, "\n")
			h := hostile{}
			var ok bool
			h.name, h.outcome, ok = strings.Cut(head, ": ")
			require.True(t, ok, head)
			for strings.HasPrefix(body, "#") {
				_, body, _ = strings.Cut(body, "\n")
			}
			h.recipe = body
			all = append(all, h)
		}
	}
	return all
}

// recipeFuncs are the functions with which recipes repeat text, and write messages of
// protocol buffers as hexadecimal digits.
var recipeFuncs = template.FuncMap{
	"seq": func(n int) []int { return make([]int, n) },
	"add": func(a, b int) int { return a + b },
	"rep": strings.Repeat,
	"str": func(field int, s string) string { return wire(field, hex.EncodeToString([]byte(s))) },
	"msg": func(field int, parts ...string) string { return wire(field, strings.Join(parts, "")) },
	"num": func(field int, n int64) string {
		return hex.EncodeToString(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3), uint64(n)))
	},
	// nest puts messages into each other, n times along a path of fields.
	"nest": func(n int, path ...int) (inside string) {
		for range n {
			for _, field := range slices.Backward(path) {
				inside = wire(field, inside)
			}
		}
		return inside
	},
}

// wire is a field with a length, all in hexadecimal digits.
func wire(field int, digits string) string {
	head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3|2), uint64(len(digits)/2))
	return hex.EncodeToString(head) + digits
}

// bytes makes the file.
func (h *hostile) bytes(t testing.TB) []byte {
	tmpl, err := template.New(h.name).Funcs(recipeFuncs).Parse(h.recipe)
	require.NoError(t, err, h.name)
	var out strings.Builder
	require.NoError(t, tmpl.Execute(&out, nil), h.name)
	if digits, ok := strings.CutPrefix(out.String(), "bytes\n"); ok {
		b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		require.NoError(t, err, h.name)
		return b
	}
	return pb.Append(nil, parseText(out.String()))
}

// hostileFolder is a folder for models with the targets that their external data may
// name: files inside, links that lead out, and objects that are not files.
func hostileFolder(t testing.TB) string {
	outer := t.TempDir()
	dir := filepath.Join(outer, "model")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(outer, "secret.bin"), make([]byte, 64), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "short.bin"), make([]byte, 4), 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	large, err := os.Create(filepath.Join(dir, "large.bin"))
	require.NoError(t, err)
	require.NoError(t, large.Truncate(1<<40), "a file of a terabyte without a block on the disk")
	require.NoError(t, large.Close())
	for link, to := range map[string]string{
		"link.bin": "../secret.bin", "absolute.bin": filepath.Join(outer, "secret.bin"), "up": "..",
		"loop.bin": "loop.bin", "inside.bin": "short.bin", "zero.bin": "/dev/zero",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	makePipe(t, filepath.Join(dir, "pipe.bin"))
	return dir
}

// mostAllocated is the memory that an import of a hostile file may allocate
// altogether, beyond a multiple of the file's size.
const mostAllocated = 256 << 20

// TestHostileFiles imports every recipe, and runs those that import.
func TestHostileFiles(t *testing.T) {
	all := hostileFiles(t)
	require.GreaterOrEqual(t, len(all), 60)
	dir := hostileFolder(t)
	seen := map[string]bool{}
	for _, h := range all {
		require.False(t, seen[h.name], h.name)
		seen[h.name] = true
		t.Run(h.name, func(t *testing.T) {
			data := h.bytes(t)
			path := filepath.Join(dir, "m.onnx")
			require.NoError(t, os.WriteFile(path, data, 0o644))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m, err := importFile(path)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(mostAllocated+256*len(data)), "allocated")
			if err == nil {
				require.Equal(t, h.outcome, "imports, "+h.run(t, m))
				return
			}
			code, part, ok := strings.Cut(h.outcome, " ")
			require.True(t, ok && errors.Is(err, diag.Code(code)) && strings.Contains(err.Error(), part),
				"expected %s, got %s", h.outcome, modelfile.Short(err.Error()))
			require.ErrorContains(t, err, "m.onnx")
			require.NotErrorIs(t, err, diag.Internal)
			printable(t, err.Error())
		})
	}
}

func importFile(path string) (*graph.Module, error) {
	f, err := Read(path)
	if err != nil {
		return nil, err
	}
	m, err := f.Import(Options{})
	if err != nil {
		return nil, err
	}
	return m, graph.Lint(m.Graph).Err()
}

// printable: messages are shown by terminals, which obey control characters.
func printable(t *testing.T, s string) {
	for _, r := range s {
		require.True(t, r == '\n' || r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f) && r < 0x2000, "%q", s)
	}
}

// run runs a graph on zeros with every symbol 2 and returns the outcome.
func (h *hostile) run(t *testing.T, m *graph.Module) string {
	defer array.SetMaxBytes(array.SetMaxBytes(256 << 20))
	var args []*array.Array
	for _, p := range m.Graph.Inputs() {
		dims := make([]int, p.Type().Rank())
		for i := range dims {
			dims[i] = 2
			if n, ok := p.Type().Dim(i).Int(); ok {
				dims[i] = n
			}
		}
		if n, ok := array.NumElems(dims); !ok || n > 1<<20 {
			return "takes no input of a usual size"
		}
		args = append(args, array.New(p.Type().DType(), dims...))
	}
	in := interp.Interpreter{State: interp.NewState(m)}
	_, err := in.RunArrays(context.Background(), args)
	var e *diag.Error
	switch {
	case err == nil:
		return "runs"
	case errors.As(err, &e):
		printable(t, err.Error())
		return "refused with " + string(e.Code)
	}
	return err.Error()
}

// TestTruncatedFiles: every beginning of a model is refused or imports.
func TestTruncatedFiles(t *testing.T) {
	whole := seedFile(t, seedModels[0])
	refused := 0
	for i := range whole {
		if f, err := Parse(whole[:i], "m.onnx"); err != nil {
			refused++
		} else if _, err = f.Import(Options{}); err != nil {
			refused++
		}
	}
	require.Greater(t, refused, len(whole)/2)
}

// seedModels are valid; fuzzing starts from them.
var seedModels = []string{
	`<ir_version: 8, opset_import: ["" : 17, "f" : 1]> net (float[n,4] x) => (float[n,2] y)
	<float[4,2] w = {1,2,3,4,5,6,7,8}, float[2] b = {0.5,1.5}, int64[2] s = {-1,2}>
	{ a = MatMul(x, w) c = Add(a, b) d = f.twice<by = 3>(c) y = Reshape(d, s) }
	<domain: "f", opset_import: ["" : 17]> twice <by> (x) => (y) { k = Constant<value_int = @by>() f = CastLike(k, x) y = Mul(x, f) }`,
	`<ir_version: 8, opset_import: ["" : 17]> net (float[1,3,8,8] x) => (float[1,4,4,4] y)
	<float[4,3,3,3] w = { {{range seq 108}}0.25,{{end}} }>
	{ c = Conv<pads = [1,1,1,1], strides = [2,2]>(x, w) r = Relu(c) y = Softmax<axis = 1>(r) }`,
	`<ir_version: 8, opset_import: ["" : 17]> net (bool c, float[2] x) => (float[2] y)
	{ y = If<then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = e () => (float[2] a) { a = Abs(x) }>(c) }`,
	`<ir_version: 8, opset_import: ["" : 17]> net (float[2] x, int64 n) => (float[2] y, float[k,2] z)
	<int64 m = {3}, bool t = {1}>
	{ y, z = Loop<body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w, float[2] u) { d = Identity(c) w = Add(v, v) u = Abs(v) }>(m, t, x) }`,
	`<ir_version: 8, opset_import: ["" : 17]> net (float[n,6] x) => (float[n,3] y)
	<int64[1] a = {1}, int64[1] b = {5}, int64[1] k = {2}>
	{ s = Shape(x) h = Slice(x, a, b, a, a) p, q = Split<axis = 1>(h) t = Concat<axis = 1>(p, q, p) i = TopK<axis = 1>(t, k)
	  g = Constant<value = {int64[2] v = {0,1}}>() e = Gather<axis = 1>(t, g) r = ReduceSum(e, a) u = ConstantOfShape(s) y = Expand(r, s) }`,
}

// Sizes with different names stay different, whatever is left of the names.
func TestSymbolsStayApart(t *testing.T) {
	m, err := fromText(`<ir_version: 8, opset_import: ["" : 17]> g (float["a.b","a/b"] x, float[a_b,"","x_1"] y, float["a_b + 1","q+1"] z) => (float[n] r) { r = Neg(x) }`).Import(Options{})
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, in := range m.Graph.Inputs() {
		for _, d := range in.Type().Dims().Slice() {
			require.False(t, seen[d.String()], d.String())
			seen[d.String()] = true
		}
	}
	require.NoError(t, graph.Lint(m.Graph).Err())
	require.True(t, seen["a_b+1"] || seen["1+a_b"], "%v", seen)
}
