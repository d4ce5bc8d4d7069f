package par

// MostLanes is the most lanes that work is cut into. It is no number of threads: scratch
// follows from it, and must not depend on the machine.
const MostLanes = 8

// Lanes are workspaces of one thread each, over parts of the scratch of another: for
// goroutines that run whole kernels in parallel.
type Lanes struct {
	list [MostSlots]Workspace
	n    int
}

// TakeLanes returns n lanes, of up to MostSlots, that have the given bytes of w's scratch
// each, a multiple of array.Align. The scratch goes back with w.Release, after PutLanes.
func TakeLanes(w *Workspace, n, bytes int) *Lanes {
	l := TakeJob[Lanes](w)
	l.n = n
	for i := range n {
		l.list[i].lent = w.scratch(bytes)[:bytes:bytes]
	}
	return l
}

// Len returns the number of lanes.
func (l *Lanes) Len() int { return l.n }

// At returns lane i.
func (l *Lanes) At(i int) *Workspace { return &l.list[i] }

// PutLanes gives lanes back. They keep their idle jobs for the next time.
func PutLanes(w *Workspace, l *Lanes) {
	for i := range l.list {
		l.list[i].lent, l.list[i].top, l.list[i].buf = nil, 0, nil
	}
	w.keep(l)
}
