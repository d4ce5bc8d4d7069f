package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSignature(t *testing.T) {
	read := func(code string) (*signature, error) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "model.go"), []byte("package net\n"+code), 0o644))
		return readSignature(dir)
	}
	s, err := read(`
func Forward() {}

// Forward computes the results for the inputs
//
//	a f32[N,3]
//	b f32
//
// and returns
//
//	y bool[N]
func (m *Model) Forward(ctx context.Context, a, b array.Dense[float32]) (y array.Dense[bool], err error) { return }
`)
	require.NoError(t, err)
	require.Equal(t, []value{{"a", "array.Dense[float32]", "f32[N,3]"}, {"b", "array.Dense[float32]", "f32"}}, s.Inputs)
	require.Equal(t, []value{{"y", "array.Dense[bool]", "bool[N]"}}, s.Outputs)
	for code, want := range map[string]string{
		"func Forward() {}":     "has no method Forward",
		"func (m *Model) {":     "expected",
		"func (M) Forward() {}": "does not take a context and return an error",
		"func (M) Forward(ctx context.Context, s *State) (err error) {}":                         "s is a *State",
		"func (M) Forward(ctx context.Context, a array.Dense[int8]) (out Results, err error) {}": "out is a Results",
		"func (M) Forward(context.Context) error {}":                                             "without a name",
	} {
		_, err := read(code)
		require.ErrorContains(t, err, want, code)
	}
}
