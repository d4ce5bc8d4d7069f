package pt2

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// importSafely imports a file that may be anything: an error has a code, and is none of
// gofx's own; a panic goes on.
func importSafely(t testing.TB, data []byte) {
	f, err := Parse(data, "m.pt2")
	if err == nil {
		var m *graph.Module
		if m, err = f.Import(Options{}); err == nil {
			err = graph.Lint(m.Graph).Err()
		}
	}
	require.NotErrorIs(t, err, diag.Internal, "%v", err)
	if err != nil {
		var l diag.List
		l.Add(err)
		for _, e := range l {
			require.NotEmpty(t, e.Code, "%v", e)
			require.NotEmpty(t, e.Pos.File, "%v", e)
		}
	}
}

// members are the files of an archive.
func members(t testing.TB, data []byte) map[string][]byte {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	out := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		out[f.Name], err = io.ReadAll(r)
		require.NoError(t, err)
	}
	return out
}

// packed is an archive of files.
func packed(t testing.TB, files map[string][]byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		require.NoError(t, err)
		_, err = f.Write(files[name])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// seeds are the archives of testdata.
func seeds(t testing.TB) map[string][]byte {
	files, err := filepath.Glob("testdata/*.pt2")
	require.NoError(t, err)
	out := map[string][]byte{}
	for _, f := range files {
		out[strings.TrimSuffix(filepath.Base(f), ".pt2")], err = os.ReadFile(f)
		require.NoError(t, err)
	}
	return out
}

// programOf is the name of the member with the program.
func programOf(t testing.TB, files map[string][]byte) string {
	for name := range files {
		if strings.Contains(name, "models/") || name == "serialized_exported_program.json" {
			return name
		}
	}
	t.Fatal("the archive has no program")
	return ""
}

// FuzzImport mutates the bytes of valid archives.
func FuzzImport(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { importSafely(t, data) })
}

// FuzzMutate mutates the JSON of valid archives: well-formed files that make no sense.
func FuzzMutate(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { importSafely(t, mutated(t, seed)) })
}

func TestMutated(t *testing.T) {
	n := uint64(200)
	if os.Getenv("GOFX_NIGHTLY") != "" {
		n = 5000
	}
	for seed := range n {
		if !t.Run("", func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Log("seed ", seed)
				}
			}()
			importSafely(t, mutated(t, seed))
		}) {
			return
		}
	}
}

var seedFiles map[string][]byte

// mutated is a valid archive with a few changes of its JSON.
func mutated(t testing.TB, seed uint64) []byte {
	if seedFiles == nil {
		seedFiles = seeds(t)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	names := slices.Sorted(maps.Keys(seedFiles))
	files := members(t, seedFiles[names[r.IntN(len(names))]])
	name := programOf(t, files)
	if r.IntN(8) == 0 { // messages about weights
		for _, other := range slices.Sorted(maps.Keys(files)) {
			if strings.HasSuffix(other, "_config.json") {
				name = other
			}
		}
	}
	var tree any
	require.NoError(t, json.Unmarshal(files[name], &tree))
	u := mutator{Rand: r, operators: Operators()}
	u.collect(tree)
	for range 1 + r.IntN(4) {
		tree = u.change(tree)
	}
	var err error
	files[name], err = json.Marshal(tree)
	require.NoError(t, err)
	return packed(t, files)
}

type mutator struct {
	*rand.Rand
	operators []string
	texts     []string
	subtrees  [][]byte
}

// collect remembers texts and parts of a tree, which take the places of others.
func (u *mutator) collect(v any) {
	switch v := v.(type) {
	case string:
		u.texts = append(u.texts, v)
	case []any:
		for _, x := range v {
			u.collect(x)
		}
	case map[string]any:
		b, _ := json.Marshal(v) // of the unmarshalled value
		if len(b) < 1<<14 {
			u.subtrees = append(u.subtrees, b)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			u.collect(v[k])
		}
	}
}

// extremes are JSON, so that each use has a value of its own.
var extremes = []string{"0", "1", "-1", "2", "7", "1024", "2147483648", "1099511627776", "4611686018427387904", "-4611686018427387904", "0.5", "-3.25", "1e300",
	"true", "false", "null", `""`, `"NaN"`, `"Infinity"`, "[]", "{}", "[1,2,3]"}

// change changes one place of a tree, which it comes to by chance.
func (u *mutator) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) == 0 || u.IntN(30) == 0 {
			return u.other(v)
		}
		k := keys[u.IntN(len(keys))]
		switch {
		case u.IntN(60) == 0:
			delete(v, k)
		case k == "target" && u.IntN(2) == 0:
			v[k] = "torch.ops.aten." + u.operators[u.IntN(len(u.operators))]
		default:
			v[k] = u.change(v[k])
		}
		return v
	case []any:
		if len(v) == 0 {
			return []any{u.other(nil)}
		}
		i := u.IntN(len(v))
		switch u.IntN(24) {
		case 0:
			return slices.Delete(v, i, i+1)
		case 1:
			b, err := json.Marshal(v[i])
			var twice any
			if err == nil && json.Unmarshal(b, &twice) == nil {
				v = append(v, twice)
			}
			return v
		case 2:
			k := u.IntN(len(v))
			v[i], v[k] = v[k], v[i]
			return v
		}
		v[i] = u.change(v[i])
		return v
	}
	return u.other(v)
}

// other is something in place of a value.
func (u *mutator) other(v any) any {
	_, text := v.(string)
	part := []byte(extremes[u.IntN(len(extremes))])
	switch k := u.IntN(4); {
	case k == 0 && len(u.subtrees) > 0:
		part = u.subtrees[u.IntN(len(u.subtrees))]
	case k > 1 && len(u.texts) > 0 && (text || u.IntN(6) == 0):
		return u.texts[u.IntN(len(u.texts))]
	}
	var out any
	_ = json.Unmarshal(part, &out)
	return out
}
