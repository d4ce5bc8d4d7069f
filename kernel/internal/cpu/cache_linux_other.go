//go:build linux && !amd64

package cpu

func detectCaches(f *found) { systemCaches(f, "/sys/devices/system/cpu/cpu0/cache") }
