package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
)

func TestPlain(t *testing.T) {
	var b bytes.Buffer
	p := &plain{w: &b}
	for _, c := range []byte("é\x1b[31m\n\u202e重") { // one byte at a time
		n, err := p.Write([]byte{c})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	require.Equal(t, "é\\u001b[31m\n\\u202e重", b.String())
}

// Names of a file reach the terminal as text, whatever they are, and JSON has them as they are.
func TestHostileNames(t *testing.T) {
	const name = "\x1b[31m\n\u202e\u009b2J"
	dir := t.TempDir()
	path := filepath.Join(dir, "names.safetensors")
	var file bytes.Buffer
	require.NoError(t, safetensors.Write(&file, []safetensors.Named{{Name: name, Array: array.FromSlice([]float32{1})}}, nil))
	require.NoError(t, os.WriteFile(path, file.Bytes(), 0o600))
	net := filepath.Join(dir, "net.fx")
	require.NoError(t, os.WriteFile(net, []byte("gofx 1\n\ngraph g(%x: f32[1]) {\n  %y = call_function[relu](%x) : f32[1]\n  %w = get_attr[w] : f32[1]\n  %z = call_function[add](%y, %w) : f32[1]\n  return %z\n}\nparam w : f32[1]\n"), 0o600))
	for _, args := range [][]string{{"stats", path}, {"stats", "-json", path}, {"run", "-weights", path, net}, {"stats", filepath.Join(dir, name) + ".fx"}, {name}} {
		var out, errs bytes.Buffer
		Main(args, &out, &errs)
		for _, text := range []string{out.String(), errs.String()} {
			require.NotContains(t, text, "\x1b", args)
			require.NotContains(t, text, "\u202e", args)
			require.NotContains(t, text, "\u009b", args)
		}
		require.NotEmpty(t, out.String()+errs.String())
		if args[1%len(args)] == "-json" {
			var doc struct{ Tensors []struct{ Name string } }
			require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
			require.Equal(t, name, doc.Tensors[0].Name)
		}
	}
	var out bytes.Buffer
	require.Zero(t, Main([]string{"stats", path}, &out, &out))
	require.Contains(t, out.String(), `"\u001b[31m\n\u202e\u009b2J" f32[1]`)
}
