package xla

// Waiting returns how many runs wait for one that uploads a weight.
func Waiting(e *Executable, path string) int { return e.weights[path].upload.Waiting() }
