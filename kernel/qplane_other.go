//go:build !amd64

package kernel

func qPlanes() bool { return false }

func (c *qConvRun) planar(*Workspace, *qPlaneForm, int, PackedQ, qEpilogue) {}

func (c *qConvRun) planesOf(*Workspace, *qPlaneForm, int) {}
