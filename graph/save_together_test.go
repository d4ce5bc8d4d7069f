package graph_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
)

// made is a module whose weight is the number that its graph multiplies by.
func made(t *testing.T, number int) *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[2]) {
  %w = get_attr[w] : f32[]
  %p = call_function[mul](%x) {other=`+strconv.Itoa(number)+`}
  %y = call_function[mul](%p, %w)
  return %y
}
param w : f32[]
`), "net.fx")
	require.NoError(t, err)
	m.Param("w").Value = array.Scalar(float32(number))
	return m
}

// TestSave_together has writers and a reader of one folder at once: what is read, then and at
// the end, is the graph and the weights of one module.
func TestSave_together(t *testing.T) {
	dir := t.TempDir()
	var modules []*graph.Module
	for i := range 3 {
		modules = append(modules, made(t, 2+i))
	}
	require.NoError(t, graph.Save(dir, modules[0]))
	whole := func() {
		m, err := graph.Load(dir)
		require.NoError(t, err)
		number := strconv.Itoa(int(array.Float64At(m.Param("w").Value, 0)))
		require.True(t, strings.Contains(m.String(), "{other="+number), "weights of %s: %s", number, m)
	}
	errs := make([]error, len(modules))
	var writers sync.WaitGroup
	for i, m := range modules {
		writers.Go(func() {
			for range 25 {
				if err := graph.Save(dir, m); err != nil {
					errs[i] = err
				}
			}
		})
	}
	for range 50 {
		whole()
	}
	writers.Wait()
	whole()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// TestSave_keepsFolders has a folder where one of the files is to be: it keeps its contents.
func TestSave_keepsFolders(t *testing.T) {
	for _, name := range []string{graph.GraphFile, graph.WeightsFile} {
		dir := t.TempDir()
		theirs := filepath.Join(dir, name, "notes")
		require.NoError(t, os.Mkdir(filepath.Dir(theirs), 0o777))
		require.NoError(t, os.WriteFile(theirs, []byte("theirs"), 0o666))
		require.ErrorIs(t, graph.Save(dir, made(t, 2)), graph.FolderError)
		text, err := os.ReadFile(theirs)
		require.NoError(t, err)
		require.Equal(t, "theirs", string(text))
	}
}
