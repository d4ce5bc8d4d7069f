package lazy

import "github.com/gofx-dev/gofx/lowering/generated"

// Using runs f while the session is in use.
func (s *Session) Using(f func()) {
	defer s.enter("Using")()
	f()
}

// Remembered is how many values a session keeps for gradients.
func Remembered(s *Session) int { return len(s.past.made) + len(s.past.handed) }

// EntryName is the name of the file in a folder that has the text of a graph.
func EntryName(text string) string { return entryName(text) }

// Bounds are the generated graphs that a session runs.
func Bounds(s *Session) (list []*generated.Bound) {
	for _, p := range s.cache.inOrder() {
		if b, ok := p.exe.run.(*generated.Bound); ok {
			list = append(list, b)
		}
	}
	return list
}
