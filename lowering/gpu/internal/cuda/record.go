package cuda

import (
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// recording is an instantiated CUDA graph: the driver launches all its commands in one
// call, which takes microseconds for a plan of hundreds.
type recording struct {
	d    *Device
	exec uintptr
	list []*usage // of the memory and programs that it uses
	seen map[*usage]bool
}

// uses notes what a recorded command uses.
func (r *recording) uses(u *usage) {
	if !r.seen[u] {
		r.seen[u] = true
		r.list = append(r.list, u)
	}
}

// Record implements device.Recorder. Other goroutines may use the device meanwhile:
// capturing is relaxed, which forbids them nothing.
func (q *queue) Record(enqueue func() error) (device.Recording, error) {
	if q.record != nil {
		return nil, diag.Bug("cuda: a recording inside another")
	}
	if err := q.begin(); err != nil {
		return nil, err
	}
	r := &recording{d: q.d, seen: map[*usage]bool{}}
	q.record = r
	err := enqueue()
	q.record = nil
	if err := q.end(r, err); err != nil {
		return nil, err
	}
	return r, nil
}

// begin makes the stream capture.
func (q *queue) begin() error {
	leave, err := q.d.enter()
	if err != nil {
		return err
	}
	defer leave()
	const relaxed = 2
	return q.d.failed("recording on", q.d.drv.call(q.d.drv.streamBeginCapture, q.stream, relaxed))
}

// end makes what the stream captured a recording, unless there was an error meanwhile.
func (q *queue) end(r *recording, before error) error {
	leave, err := q.d.enter()
	if err != nil {
		if before != nil {
			return before
		}
		return err
	}
	defer leave()
	var graph uintptr
	s := q.d.drv.call(q.d.drv.streamEndCapture, q.stream, uintptr(unsafe.Pointer(&graph)))
	if graph != 0 {
		defer q.d.drv.call(q.d.drv.graphDestroy, graph)
	}
	if before != nil {
		return before
	}
	if s == success {
		s = q.d.drv.call(q.d.drv.graphInstantiate, uintptr(unsafe.Pointer(&r.exec)), graph, 0)
	}
	if s == success {
		q.d.keep(r)
	}
	return q.d.failed("recording on", s)
}

// Replay implements device.Recording.
func (r *recording) Replay(on device.Queue) error {
	q, ok := on.(*queue)
	if !ok || q.d != r.d {
		return diag.Bug("cuda: a recording of another device")
	}
	leave, err := q.enter("a recording")
	if err != nil {
		return err
	}
	defer leave()
	q.issued++
	for _, u := range r.list {
		u.mark(q)
	}
	return q.d.failed("replaying on", q.d.drv.call(q.d.drv.graphLaunch, r.exec, q.stream))
}

// Free implements device.Recording. Launches that are under way go on: the driver keeps
// the graph until they are done.
func (r *recording) Free() { r.d.free(r) }

func (r *recording) release() { r.d.drv.call(r.d.drv.graphExecDestroy, r.exec) }
