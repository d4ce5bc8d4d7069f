package torchpt

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// archive makes an archive of names and contents.
func archive(t testing.TB, files ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.CreateHeader(&zip.FileHeader{Name: files[i], Method: zip.Store})
		require.NoError(t, err)
		_, err = io.WriteString(f, files[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// saved makes a file of a pickle and a storage "0" of 8 bytes.
func saved(t testing.TB, pickle string) []byte {
	return archive(t, "m/data.pkl", pickle, "m/data/0", "\x00\x00\x80\x3f\x00\x00\x00\x40", "m/version", "3\n")
}

// The assembler of pickles: text, an integer, a global, and calls of them.
func str(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func num64(v int64) string {
	return "\x8a\x08" + string(binary.LittleEndian.AppendUint64(nil, uint64(v)))
}

func named(module, name string) string { return "c" + module + "\n" + name + "\n" }

func tuple(items ...string) string { return "(" + strings.Join(items, "") + "t" }

func nums(v ...int64) string {
	var items []string
	for _, n := range v {
		items = append(items, num64(n))
	}
	return tuple(items...)
}

func storageOf(class, key string, n int64) string {
	return tuple(str("storage"), named("torch", class), str(key), str("cpu"), num64(n)) + "Q"
}

func rebuildOf(storage string, offset int64, shape, stride []int64) string {
	return named("torch._utils", "_rebuild_tensor_v2") + tuple(storage, num64(offset), nums(shape...), nums(stride...), "\x89", named("collections", "OrderedDict")+")R") + "R"
}

func state(items ...string) string { return "\x80\x02}(" + strings.Join(items, "") + "u." }

func f32(n, offset int64, shape, stride []int64) string {
	return state(str("w"), rebuildOf(storageOf("FloatStorage", "0", n), offset, shape, stride))
}

func TestAssembledFile(t *testing.T) {
	f, err := Parse(saved(t, f32(2, 0, []int64{2}, []int64{1})))
	require.NoError(t, err)
	require.Equal(t, []float64{1, 2}, floats(get(t, f, "w")))
	_, err = f.Get("v")
	require.ErrorIs(t, err, CodeName)
	_, _, ok := f.Type("v")
	require.False(t, ok)
	require.Empty(t, f.Format("v"))
	// PyTorch 2's form for newer types: a storage of bytes, with the type stored
	// separately.
	v3 := named("torch._utils", "_rebuild_tensor_v3") + tuple(tuple(str("storage"), named("torch.storage", "UntypedStorage"), str("0"), str("cpu"), num64(8))+"Q",
		num64(1), nums(2), nums(1), "\x89", "N", named("torch", "uint16")) + "R"
	// And for parameters with attributes.
	from := named("torch._tensor", "_rebuild_from_type_v2") + tuple(named("torch._utils", "_rebuild_tensor_v2"), named("torch.nn.parameter", "Parameter"),
		tuple(storageOf("HalfStorage", "0", 4), num64(3), tuple(), tuple(), "\x88", "N"), "}") + "R"
	f, err = Parse(saved(t, state(str("u"), v3, str("p"), from)))
	require.NoError(t, err)
	require.Equal(t, array.U16, get(t, f, "u").DType())
	require.Equal(t, []float64{0x3f80, 0}, floats(get(t, f, "u")))
	require.Equal(t, []float64{2}, floats(get(t, f, "p")))
}

// faults are pickles and their errors.
func faults() map[string]struct {
	pickle string
	code   diag.Code
	msg    string
} {
	type m = map[string]struct {
		pickle string
		code   diag.Code
		msg    string
	}
	one := []int64{1}
	s := storageOf("FloatStorage", "0", 2)
	v2 := named("torch._utils", "_rebuild_tensor_v2")
	bomb := "]q\x00"
	for range 50 {
		bomb += "](h\x00h\x00eq\x00"
	}
	return m{
		"empty":               {"", CodeSyntax, "ends after 0 bytes"},
		"no end":              {"\x80\x02}", CodeSyntax, "ends after 3 bytes"},
		"nothing":             {".", CodeSyntax, "stack is empty"},
		"reduce of nothing":   {"R.", CodeSyntax, "stack is empty"},
		"no mark":             {"t.", CodeSyntax, "no mark"},
		"below the mark":      {"N(0.", CodeSyntax, ""},
		"pop below the mark":  {"N(\x85.", CodeSyntax, "stack is empty"},
		"unknown opcode":      {"\xff.", CodeSyntax, `opcode is "\xff"`},
		"instance":            {"(ios\nsystem\n.", CodeSyntax, `opcode is "i"`},
		"extension":           {"\x82\x01.", CodeSyntax, "opcode"},
		"persistent text":     {"Pkey\n.", CodeSyntax, `opcode is "P"`},
		"cut text":            {"X\xff\xff\xff\xff.", CodeSyntax, "ends after 6 bytes"},
		"long text":           {"\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", CodeSyntax, "ends after"},
		"cut line":            {"cos", CodeSyntax, "a line does not end"},
		"memo":                {"h\x05.", CodeSyntax, "value 5 was not remembered"},
		"odd dictionary":      {"}(Nu.", CodeSyntax, "a key has no value"},
		"append to None":      {"NNa.", CodeSyntax, "no list"},
		"set of None":         {"NNNs.", CodeSyntax, "no dictionary"},
		"attributes of None":  {"NNb.", CodeSyntax, "attributes"},
		"call of None":        {"N)R.", CodeSyntax, "no function"},
		"call of text":        {str("os.system") + ")R.", CodeSyntax, "no function"},
		"arguments None":      {named("torch", "Size") + "NR.", CodeSyntax, "does not take"},
		"no arguments":        {named("torch", "Size") + ")R.", CodeSyntax, "does not take"},
		"storage None":        {"NQ.", CodeSyntax, "no storage"},
		"storage of five":     {tuple(str("storage"), "N", "N", "N", "N") + "Q.", CodeSyntax, "class, key"},
		"negative storage":    {storageOf("FloatStorage", "0", -1) + ".", CodeSyntax, "class, key"},
		"tensor of None":      {v2 + tuple("N", "N", "N", "N") + "R.", CodeSyntax, "does not take"},
		"size is text":        {v2 + tuple(s, num64(0), tuple(str("2")), nums(1)) + "R.", CodeSyntax, "does not take"},
		"rank":                {v2 + tuple(s, num64(0), nums(make([]int64, 65)...), nums(1)) + "R.", CodeSyntax, "does not take"},
		"from another class":  {named("torch._tensor", "_rebuild_from_type_v2") + tuple(v2, named("torch", "Size"), ")", "N") + "R.", CodeSyntax, "does not take"},
		"calls itself":        {named("torch._tensor", "_rebuild_from_type_v2") + tuple(named("torch._tensor", "_rebuild_from_type_v2"), named("torch", "Tensor"), ")", "N") + "R.", CodeSyntax, "does not take"},
		"nested deep":         {strings.Repeat("](", 200) + strings.Repeat("e", 200) + ".", CodeSyntax, "nested more than 64"},
		"holds itself":        {"]q\x00h\x00a.", CodeSyntax, "nested more than 64"},
		"bomb":                {bomb + ".", CodeSyntax, "too many"},
		"function":            {named("os", "system") + tuple(str("true")) + "R.", CodeObject, `"os.system"`},
		"stack global":        {"\x8c\x02os\x8c\x06system\x93" + tuple(str("true")) + "R.", CodeObject, `"os.system"`},
		"stack global, twice": {"NN\x93.", CodeSyntax, "no text"},
		"eval":                {named("builtins", "eval") + tuple(str("1")) + "R.", CodeObject, `"builtins.eval"`},
		"class":               {named("a.b", "C") + ")\x81}b.", CodeObject, `"a.b.C"`},
		"quoted name":         {named("a\x1b[31m\"", "b") + ".", CodeObject, `"a\x1b[31m\".b"`},
		"refused in a tensor": {v2 + tuple(tuple(str("storage"), named("x", "Y"), str("0"), str("cpu"), num64(1))+"Q", num64(0), nums(1), nums(1)) + "R.", CodeObject, `"x.Y"`},
		"negated":             {v2 + tuple(s, num64(0), nums(1), nums(1), "\x89", "N", "}("+str("neg")+"\x88u") + "R.", CodeObject, "a tensor with neg set"},
		"no storage":          {state(str("w"), rebuildOf(storageOf("FloatStorage", "9", 2), 0, one, one)), CodeTensor, `storage in data/"9"`},
		"out of the folder":   {state(str("w"), rebuildOf(storageOf("FloatStorage", "../version", 2), 0, one, one)), CodeTensor, "lacks"},
		"storage too short":   {f32(3, 0, one, one), CodeTensor, "storage of 3 elements"},
		"storage wraps":       {f32(1<<62, 0, one, one), CodeTensor, "storage of 4611686018427387904"},
		"outside":             {f32(2, 0, []int64{3}, one), CodeTensor, "outside of its storage of 2"},
		"outside by stride":   {f32(2, 0, []int64{2}, []int64{2}), CodeTensor, "outside"},
		"outside by offset":   {f32(2, 2, one, one), CodeTensor, "outside"},
		"negative offset":     {f32(2, -1, one, one), CodeTensor, "outside"},
		"offset wraps":        {f32(2, 1<<62, one, one), CodeTensor, "outside"},
		"negative stride":     {f32(2, 1, []int64{2}, []int64{-1}), CodeTensor, "out of range"},
		"negative size":       {f32(2, 0, []int64{-1}, one), CodeTensor, "out of range"},
		"size wraps":          {f32(2, 0, []int64{1 << 40, 1 << 40}, []int64{0, 0}), CodeTensor, "too often"}, "empty size wraps": {f32(2, 0, []int64{0, 1 << 40, 1 << 40}, []int64{0, 0, 0}), CodeTensor, "out of range"},
		"stride wraps":    {f32(2, 0, []int64{1 << 40, 2}, []int64{1 << 40, 1}), CodeTensor, "outside"},
		"expanded":        {f32(2, 0, []int64{1 << 30}, []int64{0}), CodeTensor, "too often"},
		"strides missing": {f32(2, 0, []int64{1, 1}, one), CodeTensor, "different length"},
		"name twice":      {state(str("a.b"), rebuildOf(s, 0, one, one), str("a"), "}("+str("b")+rebuildOf(s, 0, one, one)+"u"), CodeTensor, `"a.b" occurs twice`},
		"key is None":     {state("N", rebuildOf(s, 0, one, one)), CodeTensor, "neither text nor integer"},
		"long name":       {state(str(strings.Repeat("x", 5000)), rebuildOf(s, 0, one, one)), CodeSyntax, "longer names"},
	}
}

func TestHostilePickles(t *testing.T) {
	for name, c := range faults() {
		_, err := Parse(saved(t, c.pickle))
		if name == "below the mark" {
			require.NoError(t, err, name) // POP takes the mark
			continue
		}
		require.ErrorIs(t, err, c.code, name)
		require.ErrorContains(t, err, c.msg, name)
	}
}

// All that is wrong is told, not the first alone.
func TestAllIsReported(t *testing.T) {
	_, err := Parse(saved(t, state(str("a"), named("x", "Y")+")R", str("b"), named("z", "Z")+")R")))
	require.ErrorContains(t, err, `"x.Y"`)
	require.ErrorContains(t, err, `"z.Z"`)
	_, err = Parse(saved(t, state(str("a"), rebuildOf(storageOf("FloatStorage", "8", 1), 0, nil, nil), str("b"), rebuildOf(storageOf("FloatStorage", "9", 1), 0, nil, nil))))
	require.ErrorContains(t, err, `"a"`)
	require.ErrorContains(t, err, `"b"`)
}

func TestArchivesThatAreNot(t *testing.T) {
	good := f32(2, 0, []int64{2}, []int64{1})
	for name, c := range map[string]struct {
		b   []byte
		msg string
	}{
		"empty":       {nil, `begins with ""`},
		"text":        {[]byte("hello, world"), `begins with "hell"`},
		"tar":         {append(make([]byte, 257), "ustar\x0000"...), "tar archive as the first versions of PyTorch wrote them"},
		"cut":         {saved(t, good)[:200], "archive cannot be read"},
		"no pickle":   {archive(t, "m/version", "3"), "no data.pkl"},
		"two folders": {archive(t, "m/data.pkl", good, "n/data.pkl", good), "several folders"},
		"no folder":   {archive(t, "data.pkl", good, "version", "3"), ""},
		"nothing":     {archive(t), "begins with"},
		"big-endian":  {archive(t, "m/data.pkl", good, "m/byteorder", "big", "m/data/0", "12345678"), `byte order is "big"`},
		"big package": {archive(t, "m/archive_format", "pt2", "m/data/weights/model_weights_config.json", `{"config":{"w":`+payloadJSON("weight_0", false, 7, 7, plainMeta)+`}}`, "m/data/weights/weight_0", "12345678", "m/byteorder", "big"), `byte order is "big"`},
		"big program": {archive(t, "serialized_exported_program.json", "{}", "serialized_state_dict.pt", string(saved(t, good)), "byteorder", "big"), `byte order is "big"`},
		"script":      {archive(t, "m/data.pkl", good, "m/constants.pkl", "."), "TorchScript"},
		"program":     {archive(t, "serialized_exported_program.json", "{}"), "no serialized_state_dict.pt"},
		"package":     {archive(t, "m/archive_format", "pt2", "m/version", "3"), "weights of 0 models"},
		"other":       {archive(t, "m/archive_format", "pt9", "m/version", "3"), `archive_format is "pt9"`},
		"config":      {archive(t, "m/archive_format", "pt2", "m/data/weights/a_weights_config.json", "[]"), "malformed"},
		"config 2":    {archive(t, "m/archive_format", "pt2", "m/data/weights/a_weights_config.json", `{"config":[]}`), "malformed"},
		"config 3":    {archive(t, "m/archive_format", "pt2", "m/data/weights/a_weights_config.json", `{"config":{"a":3}}`), "malformed"},
	} {
		_, err := Parse(c.b)
		if name == "no folder" {
			require.Error(t, err) // its storages are not where they are looked for
			continue
		}
		require.ErrorIs(t, err, CodeFormat, name)
		require.ErrorContains(t, err, c.msg, name)
	}
	b := saved(t, good)
	f, err := Parse(bytes.Replace(b, []byte("\x00\x00\x80\x3f"), []byte("\x00\x00\x80\x40"), 1))
	require.NoError(t, err)
	_, err = f.Get("w")
	require.ErrorIs(t, err, CodeFormat)
	require.ErrorContains(t, err, "checksum")
}

// payloadJSON is a tensor of a package.
func payloadJSON(path string, pickled bool, dtype, layout int, meta string) string {
	return fmt.Sprintf(`{"path_name":%q,"is_param":true,"use_pickle":%v,"tensor_meta":{"dtype":%d,"requires_grad":true,"device":{"type":"cpu","index":null},"layout":%d,%s}}`, path, pickled, dtype, layout, meta)
}

const (
	plainMeta = `"sizes":[{"as_int":2}],"strides":[{"as_int":1}],"storage_offset":{"as_int":0}`
	transMeta = `"sizes":[{"as_int":2},{"as_int":2}],"strides":[{"as_int":1},{"as_int":2}],"storage_offset":{"as_int":1}`
)

// packageOf makes a package of torch.export of a description and one storage of 20 bytes.
func packageOf(t testing.TB, config string) []byte {
	return archive(t, "m/archive_format", "pt2", "m/models/model.json", "{}", "m/data/weights/model_weights_config.json", config,
		"m/data/weights/weight_0", "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40", "m/data/weights/weight_1", "", "m/byteorder", "little")
}

// The three layouts in which torch.export has kept weights.
func TestPrograms(t *testing.T) {
	state := string(saved(t, f32(2, 0, []int64{2}, []int64{1})))
	for _, b := range [][]byte{
		archive(t, "serialized_exported_program.json", "{}", "serialized_state_dict.pt", state, "version", "5.1"),
		archive(t, "serialized_exported_program.json", "{}", "serialized_state_dict.json", state, "version", "1.1"),
		archive(t, "m/archive_format", "pt2", "m/data/weights/model.pt", state),
		packageOf(t, `{"config":{"w":`+payloadJSON("weight_0", false, 7, 7, plainMeta)+`}}`),
	} {
		f, err := Parse(b)
		require.NoError(t, err)
		require.Equal(t, []string{"w"}, f.Names())
		require.Equal(t, []float64{1, 2}, floats(get(t, f, "w")))
	}
	f, err := Parse(packageOf(t, `{"config":{"z":`+payloadJSON("weight_0", false, 7, 7, transMeta)+`,"a":`+payloadJSON("weight_1", false, 12, 7, `"sizes":[{"as_int":0}],"strides":[{"as_int":1}],"storage_offset":{"as_int":0}`)+`}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"z", "a"}, f.Names())
	require.Equal(t, []float64{2, 4, 3, 5}, floats(get(t, f, "z")))
	require.Equal(t, array.Bool, get(t, f, "a").DType())
}

func TestHostilePackages(t *testing.T) {
	for name, c := range map[string]struct {
		config string
		code   diag.Code
		msg    string
	}{
		"pickled":    {payloadJSON("weight_0", true, 7, 7, plainMeta), CodeObject, "pickled or sparse"},
		"sparse":     {payloadJSON("weight_0", false, 7, 1, plainMeta), CodeObject, "pickled or sparse"},
		"no meta":    {`{"path_name":"weight_0","tensor_meta":null}`, CodeObject, "pickled or sparse"},
		"type":       {payloadJSON("weight_0", false, 99, 7, plainMeta), CodeTensor, "element type 99"},
		"no type":    {payloadJSON("weight_0", false, 0, 7, plainMeta), CodeTensor, "element type 0"},
		"symbol":     {payloadJSON("weight_0", false, 7, 7, strings.Replace(plainMeta, `"as_int":2`, `"as_expr":{"expr_str":"s0"}`, 1)), CodeTensor, "no numbers"},
		"outside":    {payloadJSON("weight_0", false, 8, 7, strings.Replace(plainMeta, `"as_int":2`, `"as_int":3`, 1)), CodeTensor, "outside"},
		"no file":    {payloadJSON("../../version", false, 7, 7, plainMeta), CodeTensor, "lacks"},
		"name twice": {payloadJSON("weight_0", false, 7, 7, plainMeta) + `,"w":` + payloadJSON("weight_0", false, 7, 7, plainMeta), CodeTensor, "occurs twice"},
	} {
		_, err := Parse(packageOf(t, `{"config":{"w":`+c.config+`}}`))
		require.ErrorIs(t, err, c.code, name)
		require.ErrorContains(t, err, c.msg, name)
	}
}

// Pickles that make much get little memory and little time.
func TestHostilePicklesAreBounded(t *testing.T) {
	for name, pickle := range map[string]string{
		"lists":        strings.Repeat("]", 3<<20),
		"memo":         "N" + strings.Repeat("\x94", 5<<20),
		"marks":        strings.Repeat("(", 4<<20),
		"pushes":       strings.Repeat("N", 9<<20),
		"dictionaries": "(" + strings.Repeat("}", 3<<20),
		"shared list":  "(" + strings.Repeat("N", 1<<20) + "lq\x00(" + strings.Repeat("h\x00", 1<<20) + "l.",
		"long names":   "](" + strings.Repeat("e", 1) + strings.Repeat("q\x00}("+str(strings.Repeat("k", 60))+"h\x00"+str("l")+"h\x00u", 50) + ".",
	} {
		b := saved(t, pickle)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := Parse(b)
		runtime.ReadMemStats(&after)
		require.ErrorIs(t, err, CodeSyntax, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(512<<20), name)
		// Linear time is half a second, the square of the length hours.
		require.Less(t, time.Since(start), time.Minute, name)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range faults() {
		f.Add([]byte(c.pickle))
	}
	good := f32(2, 0, []int64{2}, []int64{1})
	f.Add([]byte(good))
	f.Add(oldFile(good)) // a whole file
	f.Fuzz(func(t *testing.T, pickle []byte) {
		readAll(t, saved(t, string(pickle)))
		readAll(t, oldFile(string(pickle)))
		readAll(t, pickle)
	})
}
