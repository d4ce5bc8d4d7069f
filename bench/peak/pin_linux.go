package peak

import "golang.org/x/sys/unix"

// pin binds the calling thread, which its goroutine must have locked, to the
// i-th of the processors that the process may use. The scheduler likes to start
// a woken thread where its waker runs, and takes longer than a measurement to
// part the two. The result undoes it.
func pin(i int) (undo func()) {
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() == 0 {
		return func() {}
	}
	i %= all.Count()
	for c := 0; ; c++ {
		if !all.IsSet(c) {
			continue
		}
		if i == 0 {
			one.Set(c)
			break
		}
		i--
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		return func() {}
	}
	return func() { _ = unix.SchedSetaffinity(0, &all) }
}
