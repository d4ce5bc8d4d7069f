package lazy

// Using runs f while the session is in use.
func (s *Session) Using(f func()) {
	defer s.enter("Using")()
	f()
}

// EntryName is the name of the file in a folder that has the text of a graph.
func EntryName(text string) string { return entryName(text) }
