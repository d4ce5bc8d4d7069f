package device

// Recorder is a queue that can keep commands and run them again as one, at less cost
// than one by one. Not all queues are.
type Recorder interface {
	Queue
	// Record calls enqueue, which may call Launch and Copy of this queue, and returns
	// what it enqueued, without running it.
	Record(enqueue func() error) (Recording, error)
}

// Recording is what a Recorder kept. It uses the same memory each time, which is freed
// after it.
type Recording interface {
	// Replay enqueues the commands; one replay of a recording runs at a time.
	Replay(q Queue) error
	Free()
}
