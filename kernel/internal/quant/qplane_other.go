//go:build !amd64

package quant

import (
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func qPlanes() bool { return false }

func (c *qConvRun) planar(*par.Workspace, *qPlaneForm, int, PackedQ, qEpilogue) {}

func (c *qConvRun) planesOf(*par.Workspace, *qPlaneForm, int) {}
