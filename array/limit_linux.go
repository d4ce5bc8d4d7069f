package array

import "syscall"

// machineBytes returns the bytes of memory that the machine has.
func machineBytes() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil || info.Totalram == 0 {
		return fallbackBytes
	}
	return int64(info.Totalram) * int64(max(info.Unit, 1))
}
