package onnx_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/onnx"
)

// together is a model whose operator and constant, which lies outside of the file, tell who made it.
func together(t *testing.T, operator string, value float64) *graph.Module {
	m := fromText(t, `graph net(%x: f32[512]) {
  %w = get_attr[w] : f32[512]
  %y = call_function[`+operator+`](%x, %w) : f32[512]
  return %y
}
param w : f32[512]
`)
	p := *m.Params()[0]
	p.Value = array.New(array.F32, 512)
	for i := range p.Value.Len() {
		array.SetFloat64At(p.Value, i, value)
	}
	m.SetParam(p)
	return m
}

// makerOf is the operator of a model and the one that its constant belongs to.
func makerOf(t *testing.T, f *onnx.File) (operator, constant string) {
	m, err := f.Import(onnx.Options{})
	require.NoError(t, err)
	operator = "add"
	if strings.Contains(m.String(), "[sub]") {
		operator = "sub"
	}
	constant = map[float64]string{1: "add", 2: "sub"}[array.Float64At(m.Params()[0].Value, 0)]
	return operator, constant
}

// A model that was read has the constants that it was read with, though the files were replaced before
// it is imported.
func TestRead_constantsAreOfTheModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnx")
	require.NoError(t, onnx.ExportFile(path, together(t, "add", 1), onnx.ExportOptions{External: true}))
	f, err := onnx.Read(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, onnx.ExportFile(path, together(t, "sub", 2), onnx.ExportOptions{External: true}))
	operator, constant := makerOf(t, f)
	require.Equal(t, "add", operator)
	require.Equal(t, "add", constant)
}

// A reader that comes between two renames of a writer waits for the second.
func TestRead_waitsForWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.onnx")
	require.NoError(t, onnx.ExportFile(path, together(t, "add", 1), onnx.ExportOptions{External: true}))
	release := swap.Hold(dir, false)
	require.NoError(t, os.Rename(path, path+".old"))
	read := make(chan error)
	go func() {
		f, err := onnx.Read(path)
		if err == nil {
			err = f.Close()
		}
		read <- err
	}()
	time.Sleep(20 * time.Millisecond) // for who does not wait to find nothing
	require.NoError(t, os.Rename(path+".old", path))
	release()
	require.NoError(t, <-read)
}

// Readers meet writers: at each time there is a model, and the constants are its own.
func TestRead_whileOthersWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.onnx")
	write := func(operator string, value float64) error {
		return onnx.ExportFile(path, together(t, operator, value), onnx.ExportOptions{External: true})
	}
	require.NoError(t, write("add", 1))
	done := make(chan struct{})
	var writers sync.WaitGroup
	for operator, value := range map[string]float64{"add": 1, "sub": 2} {
		writers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if err := write(operator, value); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 100 {
		f, err := onnx.Read(path)
		if err != nil {
			t.Error(err)
			break
		}
		if operator, constant := makerOf(t, f); operator != constant {
			t.Errorf("%s has the constants of %s", operator, constant)
		}
		_ = f.Close()
	}
	close(done)
	writers.Wait()
}
