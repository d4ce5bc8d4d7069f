package fusion_test

import (
	"testing"

	"github.com/gofx-dev/gofx/internal/passtest"
	"github.com/gofx-dev/gofx/passes/fusion"
)

func TestConvBN(t *testing.T)   { passtest.Golden(t, "testdata/conv-bn", fusion.ConvBN) }
func TestLinearBN(t *testing.T) { passtest.Golden(t, "testdata/linear-bn", fusion.LinearBN) }
