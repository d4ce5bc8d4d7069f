package lazy

// Using runs f while the session is in use.
func (s *Session) Using(f func()) {
	defer s.enter("Using")()
	f()
}
