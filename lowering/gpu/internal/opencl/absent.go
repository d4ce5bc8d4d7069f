//go:build !((linux || darwin || freebsd) && (amd64 || arm64) && !android && !faketime)

package opencl

import (
	"runtime"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// Devices reports that nothing is loaded on this system.
func Devices() ([]device.Device, error) {
	return nil, diag.New(device.NoDevice, "OpenCL is not loaded on "+runtime.GOOS+"/"+runtime.GOARCH+", where no library can be opened without cgo").
		WithHint("run the model on the cpu target")
}
