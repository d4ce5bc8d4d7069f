//go:build !amd64

package pool

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
)

// No level here has windows, so that none of these is called.

func (*maxCall) run(cpu.Level, *geom.Spatial) {}

func averageWindows(*geom.WindowCall, cpu.Level, *geom.Spatial) {}

func meanOfRows(cpu.Level, int, []float32, int, *[meanRows]float32) {}
