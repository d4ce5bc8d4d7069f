package kernel

// hasWindows reports whether the level has assembly for sliding windows.
func hasWindows(l cpuLevel) bool { return l >= levelAVX2 }
