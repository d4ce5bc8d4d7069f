package lazy

// Using runs f while the session is in use.
func (s *Session) Using(f func()) {
	defer s.enter("Using")()
	f()
}
func Remembered(s *Session) int { return len(s.past.made) + len(s.past.handed) }
