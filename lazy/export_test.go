package lazy

// Using runs f while the session is in use.
func (s *Session) Using(f func()) {
	defer s.enter("Using")()
	f()
}

// Remembered is how many values a session keeps for gradients.
func Remembered(s *Session) int { return len(s.past.made) + len(s.past.handed) }

// EntryName is the name of the file in a folder that has the text of a graph.
func EntryName(text string) string { return entryName(text) }
