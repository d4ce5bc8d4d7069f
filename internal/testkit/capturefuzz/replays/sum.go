package replays

import "fmt"

// Sum adds verdicts up.
type Sum struct {
	Programs, Recorded, Hit, Different         int // programs
	Calls, Hits, Misses, Plain, Lazy, Sessions int // calls
	Panics                                     int
}

// Add adds one.
func (s *Sum) Add(v Verdict) {
	s.Programs++
	if v.Stats.Records > 0 {
		s.Recorded++
	}
	if v.Stats.Hits > 0 {
		s.Hit++
	}
	if v.Detail != "" {
		s.Different++
	}
	s.Calls += v.Stats.Calls
	s.Hits += v.Stats.Hits
	s.Misses += v.Stats.Misses
	s.Plain += v.Stats.Plain
	s.Lazy += v.Stats.Lazy
	s.Sessions += v.Session
	s.Panics += v.Panics
}

// String is a line for people.
func (s *Sum) String() string {
	return fmt.Sprintf("%d programs, %d with records, %d with hits, %d different; %d calls: %d hits, %d misses, %d plain, %d in a session of the compiled function, %d panics; %d compared with a session",
		s.Programs, s.Recorded, s.Hit, s.Different, s.Calls, s.Hits, s.Misses, s.Plain, s.Lazy, s.Panics, s.Sessions)
}
