package xla

// Waiting returns how many runs wait for one that uploads a weight.
func Waiting(e *Executable, path string) int { return e.weights[path].upload.Waiting() }

// Versions is what programs that are kept are told apart by, other than their texts.
func (r *Runtime) Versions() string { return r.versions }
