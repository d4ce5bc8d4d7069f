package exporter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScalarRulesAreThere: ONNX has nodes for each scalar operation.
func TestScalarRulesAreThere(t *testing.T) { require.Empty(t, scalarRules.Lacking()) }
