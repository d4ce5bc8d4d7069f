//go:build !amd64

package cpu

import "runtime"

// model returns what the system tells of the processor, where it does.
func model() string {
	if s := systemModel(); s != "" {
		return s
	}
	return runtime.GOARCH
}
