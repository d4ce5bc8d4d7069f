//go:build !amd64

package kernel

func stripCode(cpuLevel) *[stripSteps]uint64 { return nil }

func stripLen(cpuLevel) int { return maxStrip }

func runStrips(cpuLevel, []uint64, int, int, *stripTemp) {}

func applyStrips(cpuLevel, *[4 * stepWords]uint64, []float32, []float32, *stripTemp) {}
