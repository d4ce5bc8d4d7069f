package xla

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScalarRulesAreThere: StableHLO has operations for each scalar operation.
func TestScalarRulesAreThere(t *testing.T) { require.Empty(t, scalars.Lacking()) }
