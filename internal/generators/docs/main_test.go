package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsPageIsCurrent(t *testing.T) {
	have, err := os.ReadFile("../../../docs/errors.md")
	require.NoError(t, err)
	require.Equal(t, string(errorsPage()), string(have), "run go run ./internal/generators/docs")
}

func TestGradPageIsCurrent(t *testing.T) {
	have, err := os.ReadFile("../../../docs/grad.md")
	require.NoError(t, err)
	require.Equal(t, string(gradPage()), string(have), "run go run ./internal/generators/docs")
}

func TestZooPageIsCurrent(t *testing.T) {
	have, err := os.ReadFile("../../../docs/zoo.md")
	require.NoError(t, err)
	require.Equal(t, string(zooPage()), string(have), "run go run ./internal/generators/docs")
}
