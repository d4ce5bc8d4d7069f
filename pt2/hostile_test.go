package pt2

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array/torchpt"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// seed reads an archive of testdata.
func seed(t testing.TB, name string) map[string][]byte {
	data, err := os.ReadFile("testdata/" + name + ".pt2")
	require.NoError(t, err)
	return members(t, data)
}

// edited is the archive mlp with a text of its program replaced by another.
func edited(t testing.TB, old, new string) []byte {
	files := seed(t, "mlp")
	name := programOf(t, files)
	require.Contains(t, string(files[name]), old)
	files[name] = []byte(strings.ReplaceAll(string(files[name]), old, new))
	return packed(t, files)
}

// refusal imports an archive that must be refused, soon and in little memory.
func refusal(t testing.TB, data []byte) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f, err := Parse(data, "m.pt2")
	if err == nil {
		_, err = f.Import(Options{})
	}
	runtime.ReadMemStats(&after)
	require.Error(t, err)
	require.Less(t, time.Since(start), time.Minute)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<30))
	require.NotErrorIs(t, err, diag.Internal)
	require.Contains(t, err.Error(), "m.pt2")
	return err
}

func TestHostilePrograms(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string
		code     diag.Code
		msg      string
	}{
		"operator":        {"torch.ops.aten.relu.default", "torch.ops.aten.frobnicate.default", CodeOperator, `m.pt2: node "relu" (nets.py:`},
		"operator of Go":  {"torch.ops.aten.relu.default", "os.system", CodeOperator, `"os.system" is not supported`},
		"random":          {"torch.ops.aten.relu.default", "torch.ops.aten.randn.default", CodeOperator, "its results are random"},
		"argument":        {`"target":"torch.ops.aten.relu.default","inputs":[`, `"target":"torch.ops.aten.relu.default","inputs":[{"name":"slope","arg":{"as_int":2},"kind":1},`, CodeArgument, `argument "slope"`},
		"no argument":     {`"target":"torch.ops.aten.relu.default","inputs":[{"name":"self"`, `"target":"torch.ops.aten.relu.default","inputs":[{"name":"selfie"`, CodeArgument, "selfie"},
		"stranger":        {`"arg":{"as_tensor":{"name":"relu"}}`, `"arg":{"as_tensor":{"name":"nobody"}}`, CodeProgram, `no value has the name "nobody"`},
		"cycle":           {`"name":"input","arg":{"as_tensor":{"name":"args_0"}}`, `"name":"input","arg":{"as_tensor":{"name":"linear_1"}}`, CodeProgram, "without cycles"},
		"twice":           {`"outputs":[{"as_tensor":{"name":"relu"}}]`, `"outputs":[{"as_tensor":{"name":"linear"}}]`, CodeProgram, "given to two values"},
		"two kinds":       {`"arg":{"as_tensor":{"name":"relu"}}`, `"arg":{"as_tensor":{"name":"relu"},"as_int":3}`, CodeFormat, `"as_int" and "as_tensor"`},
		"no kind":         {`"arg":{"as_tensor":{"name":"relu"}}`, `"arg":{}`, CodeFormat, "no key"},
		"text for number": {`"as_int":8`, `"as_int":"8"`, CodeFormat, "malformed"},
		"type":            {`"args_0":{"dtype":7`, `"args_0":{"dtype":10`, CodeType, "complex64"},
		"no type":         {`"args_0":{"dtype":7`, `"args_0":{"dtype":77`, CodeType, "77"},
		"other type":      {`"relu":{"dtype":7`, `"relu":{"dtype":8`, CodeProgram, "that its elements are f64"},
		"other size":      {`"linear":{"dtype":7,"sizes":[{"as_expr":{"expr_str":"Symbol('s33', positive=True, integer=True)","hint":{"as_int":2}}},{"as_int":8}]`, `"linear":{"dtype":7,"sizes":[{"as_int":3},{"as_int":9}]`, CodeProgram, "size 1 is 9"},
		"negative size":   {`"as_int":4`, `"as_int":-4`, "", "size"},
		"huge size":       {`"as_int":4`, `"as_int":4611686018427387904`, "", "4611686018427387904"},
		"expression":      {"Symbol('s33', positive=True, integer=True)", strings.Repeat("Add(", 5000) + "Integer(1)" + strings.Repeat(")", 5000), CodeInput, "follows from sizes"},
		"power":           {"Symbol('s33', positive=True, integer=True)", "Pow(Symbol('s33', positive=True, integer=True), Integer(1000000))", CodeInput, "follows from sizes"},
		"version":         {`"schema_version":{"major":8`, `"schema_version":{"major":9`, CodeFormat, "version 9 of the schema"},
		"signature":       {`{"user_input":{"arg":{"as_tensor":{"name":"args_0"}}}}`, `{"token":{"arg":{"name":"args_0"}}}`, CodeProgram, `is a "token"`},
		"guard":           {`"guards_code":[]`, `"guards_code":["type(L['x']) == int"]`, CodeGuard, "cannot be checked"},
		"guard, deep":     {`"guards_code":[]`, `"guards_code":["` + strings.Repeat("(", 100000) + `"]`, CodeGuard, "nested too deep"},
		"guard by 0":      {`"guards_code":[]`, `"guards_code":["L['args'][0].size()[0] // 0 == 1"]`, CodeGuard, "divides by 0"},
		"guard never":     {`"guards_code":[]`, `"guards_code":["L['args'][0].size()[1] == 5"]`, CodeInput, "needs"},
		"weight":          {`"parameter_name":"a.weight"`, `"parameter_name":"a.wait"`, CodeProgram, `no tensor "a.wait"`},
		"nothing":         {`"graph":`, `"giraffe":`, CodeFormat, "no graph_module.graph"},
	} {
		t.Run(name, func(t *testing.T) {
			err := refusal(t, edited(t, c.old, c.new))
			require.ErrorContains(t, err, c.msg)
			if c.code != "" {
				require.ErrorIs(t, err, c.code)
			}
		})
	}
}

// An LSTM with proj_size has states of two sizes. It is refused with what can be done: its program after
// run_decompositions has no lstm any more.
func TestProjectedLSTM(t *testing.T) {
	files := seed(t, "lstm")
	name := programOf(t, files)
	text := string(files[name])
	for _, c := range []struct{ from, old, new string }{ // of the cells, the second zeros
		{`"sym_size_int_2"},{"as_int":5}]},"kind":1},{"name":"dtype","arg":{"as_scalar_type":7},"kind":2},{"name":"device","arg":{"as_device":{"type":"cpu","index":null}},"kind":2},{"name":"pin_memory","arg":{"as_bool":false},"kind":2}],"outputs":[{"as_tensor":{"name":"zeros_1"`, `{"as_int":5}]}`, `{"as_int":7}]}`},
		{`"zeros_1":{"dtype":7,"sizes":[{"as_int":2},{"as_expr":{"expr_str":"Symbol('s33', positive=True, integer=True)","hint":{"as_int":2}}},{"as_int":5}]`, `{"as_int":5}]`, `{"as_int":7}]`},
	} {
		require.Equal(t, 1, strings.Count(text, c.from))
		text = strings.Replace(text, c.from, strings.Replace(c.from, c.old, c.new, 1), 1)
	}
	files[name] = []byte(text)
	err := refusal(t, packed(t, files))
	require.ErrorIs(t, err, CodeArgument)
	require.ErrorContains(t, err, "the result of a step has 5 elements, its cell 7 (proj_size), expected as many")
	require.ErrorContains(t, err, "run_decompositions()")
}

// All that is wrong is said at once.
func TestHostileSaysAll(t *testing.T) {
	files := seed(t, "cnn")
	name := programOf(t, files)
	files[name] = []byte(strings.NewReplacer("aten.relu_", "aten.nonsense", "aten.hardswish", "aten.absurd").Replace(string(files[name])))
	err := refusal(t, packed(t, files))
	require.ErrorContains(t, err, "nonsense")
	require.ErrorContains(t, err, "absurd")
	require.Len(t, err, 2, "what follows from a node that is refused is no news: %v", err)
}

func TestHostileArchives(t *testing.T) {
	mlp := seed(t, "mlp")
	name := programOf(t, mlp)
	with := func(name string, data []byte) []byte {
		files := map[string][]byte{}
		for k, v := range mlp {
			files[k] = v
		}
		if files[name] = data; data == nil {
			delete(files, name)
		}
		return packed(t, files)
	}
	weights := ""
	for k := range mlp {
		if strings.HasSuffix(k, "weights_config.json") {
			weights = k
		}
	}
	deep := strings.Repeat(`{"graph_module":`, 1<<20)
	for what, c := range map[string]struct {
		data []byte
		code diag.Code
	}{
		"empty":          {nil, CodeFormat},
		"bytes":          {[]byte{1, 2, 3}, CodeFormat},
		"cut":            {packed(t, mlp)[:3000], CodeFormat},
		"no program":     {with(name, nil), CodeFormat},
		"two programs":   {with("mlp/models/other.json", []byte("{}")), CodeFormat},
		"big endian":     {with("mlp/byteorder", []byte("big")), CodeFormat},
		"no JSON":        {with(name, []byte("graph")), CodeFormat},
		"deep JSON":      {with(name, []byte(deep)), CodeFormat},
		"many values":    {with(name, []byte("["+strings.Repeat("{},", mostTokens/2)+"{}]")), CodeFormat},
		"many nodes":     {with(name, []byte(`{"graph_module":{"graph":{"nodes":[`+strings.Repeat("{},", mostTokens/2-8)+"{}]}}}")), CodeProgram},
		"cut weight":     {with("mlp/data/weights/weight_0", make([]byte, 17)), ""},
		"no weight":      {with("mlp/data/weights/weight_0", nil), ""},
		"no weights":     {with(weights, nil), torchpt.CodeFormat},
		"pickled weight": {with(weights, bytes.ReplaceAll(mlp[weights], []byte(`"use_pickle": false`), []byte(`"use_pickle": true`))), torchpt.CodeObject},
		"far weight":     {with(weights, bytes.ReplaceAll(mlp[weights], []byte(`"storage_offset": {"as_int": 0}`), []byte(`"storage_offset": {"as_int": 1000000}`))), torchpt.CodeTensor},
		"bomb":           {bomb(t, name), CodeFormat},
		"compiled":       {packed(t, map[string][]byte{"m/archive_format": []byte("pt2"), "m/data/aotinductor/model/m.so": {1}}), CodeFormat},
	} {
		t.Run(what, func(t *testing.T) {
			if what == "pickled weight" || what == "far weight" {
				require.NotEqual(t, packed(t, mlp), c.data, "the config is written as the test expects")
			}
			err := refusal(t, c.data)
			if c.code != "" {
				require.ErrorIs(t, err, c.code)
			}
		})
	}
}

// bomb is an archive whose program unpacks to more than it may have.
func bomb(t testing.TB, name string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	require.NoError(t, err)
	zeros := make([]byte, 1<<20)
	for range mostJSON>>20 + 1 {
		_, err = f.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// Graphs in graphs are bounded, and read once each.
func TestHostileDepth(t *testing.T) {
	files := seed(t, "control")
	name := programOf(t, files)
	var p map[string]any
	require.NoError(t, json.Unmarshal(files[name], &p))
	g := p["graph_module"].(map[string]any)["graph"].(map[string]any)
	inner := `{"inputs":[],"outputs":[],"nodes":[],"tensor_values":{}}`
	for k := range 200 {
		inner = fmt.Sprintf(`{"inputs":[],"outputs":[],"tensor_values":{},"nodes":[{"target":"torch.ops.higher_order.wrap_with_set_grad_enabled","name":"n%d","inputs":[{"name":"","arg":{"as_bool":false}},{"name":"","arg":{"as_graph":{"name":"g","graph":%s}}}],"outputs":[],"metadata":{}}]}`, k, inner)
	}
	var nested map[string]any
	require.NoError(t, json.Unmarshal([]byte(inner), &nested))
	g["nodes"] = append(nested["nodes"].([]any), g["nodes"].([]any)...)
	var err error
	files[name], err = json.Marshal(p)
	require.NoError(t, err)
	require.ErrorContains(t, refusal(t, packed(t, files)), "nested more than 12 deep")
}

// Sizes that are multiplied again and again do not grow without bound.
func TestHostileSizes(t *testing.T) {
	files := seed(t, "sizes")
	name := programOf(t, files)
	var p map[string]any
	require.NoError(t, json.Unmarshal(files[name], &p))
	g := p["graph_module"].(map[string]any)["graph"].(map[string]any)
	var nodes []string
	last := "sym_size_int_2"
	for _, n := range g["nodes"].([]any) {
		if n := n.(map[string]any); strings.HasPrefix(n["target"].(string), "torch.ops.aten.sym_size") {
			last = n["name"].(string)
		}
	}
	for k := range 200 {
		next := fmt.Sprint("grown", k)
		nodes = append(nodes, fmt.Sprintf(`{"target":"_operator.add","name":"%[2]s_a","inputs":[{"name":"a","arg":{"as_sym_int":{"as_name":%[1]q}}},{"name":"b","arg":{"as_int":1}}],"outputs":[{"as_sym_int":{"as_name":"%[2]s_a"}}],"metadata":{}},
			{"target":"_operator.mul","name":%[2]q,"inputs":[{"name":"a","arg":{"as_sym_int":{"as_name":%[1]q}}},{"name":"b","arg":{"as_sym_int":{"as_name":"%[2]s_a"}}}],"outputs":[{"as_sym_int":{"as_name":%[2]q}}],"metadata":{}}`, last, next))
		last = next
	}
	var more []any
	require.NoError(t, json.Unmarshal([]byte("["+strings.Join(nodes, ",")+"]"), &more))
	g["nodes"] = append(g["nodes"].([]any), more...)
	var err error
	files[name], err = json.Marshal(p)
	require.NoError(t, err)
	start := time.Now()
	f, err := Parse(packed(t, files), "m.pt2")
	require.NoError(t, err)
	_, err = f.Import(Options{})
	require.NotErrorIs(t, err, diag.Internal)
	require.Less(t, time.Since(start), time.Minute)
}

// Types that are given must be the program's.
func TestInputsThatDoNotFit(t *testing.T) {
	f, err := Read("testdata/mlp.pt2")
	require.NoError(t, err)
	defer f.Close()
	for text, msg := range map[string]string{
		"f32[3,5]": "whose size 1 is 4 in the file", "f64[3,4]": "elements of f32", "f32[3]": "2 dimensions", "f32[65,4]": `needs "s33 <= 64"`, "f32[*]": "",
	} {
		typ, err := shape.ParseType(text)
		if err != nil {
			continue
		}
		_, err = f.Import(Options{Inputs: map[string]shape.Type{"args_0": typ}})
		require.ErrorIs(t, err, CodeInput, text)
		require.ErrorContains(t, err, msg)
	}
	_, err = f.Import(Options{Inputs: map[string]shape.Type{"x": {}}})
	require.ErrorContains(t, err, `a type is given for "x", which is no input`)
}

// A pickle of an older archive that would run code is refused by name, and not run.
func TestOldPickles(t *testing.T) {
	marker := t.TempDir() + "/ran"
	pickle := []byte("\x80\x02cposix\nsystem\nX")
	command := "touch " + marker
	pickle = append(pickle, byte(len(command)), 0, 0, 0)
	pickle = append(append(pickle, command...), []byte("\x85R.")...)
	state := packed(t, map[string][]byte{"archive/data.pkl": pickle, "archive/version": []byte("3\n"), "archive/byteorder": []byte("little")})
	files := seed(t, "mlp")
	old := packed(t, map[string][]byte{"serialized_exported_program.json": files[programOf(t, files)], "serialized_state_dict.pt": state, "serialized_constants.pt": state, "version": []byte("5.1")})
	err := refusal(t, old)
	require.ErrorContains(t, err, "posix.system")
	_, err = os.Stat(marker)
	require.ErrorIs(t, err, os.ErrNotExist)
}
