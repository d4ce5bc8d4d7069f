package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArguments(t *testing.T) {
	require.Equal(t, []string{"-papers", "papers/rows.json", "-workloads", "W1,W2", "-peers", "torch", "-keep=true", "-doc=false", "-pairs", "5"},
		arguments("W1,W2", "torch", true, false, []string{"-pairs", "5"}))
}
