package lazy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reason says why recorded calls were computed.
type Reason string

// The reasons.
const (
	Item    Reason = "item"    // Item or Bool
	Data    Reason = "data"    // Data or Array, or a Go slice that the program may read
	Print   Reason = "print"   // String and formatted output
	Compare Reason = "compare" // Equal
	Shape   Reason = "shape"   // a size that elements say
	Foreign Reason = "foreign" // a Go function that is no operator
	Write   Reason = "write"   // a write to memory that the program has
	Barrier Reason = "barrier" // Barrier or Close
	Length  Reason = "length"  // Options.MaxTrace
	Run     Reason = "run"     // a Program that reads or writes it
)

// reasonOf is the reason of a method that asks for data.
func reasonOf(what string) Reason {
	switch what {
	case "Item", "Bool":
		return Item
	case "String":
		return Print
	case "Equal":
		return Compare
	case "Size", "Dim", "Rank", "DType":
		return Shape
	}
	return Data
}

// Stats are counts since the session began.
type Stats struct {
	Calls       int            // recorded
	Runs        int            // calls that were computed
	Flushes     map[Reason]int // by what asked
	Graphs      int            // different graphs
	Compiles    int            // of graphs by the target
	Hits        int            // flushes that ran a compiled graph
	Interpreted int            // flushes that ran call by call
	Programs    int            // runs of programs that Session.Program has made
	Refused     int            // flushes of graphs that the target refuses
	Missed      int            // flushes of graphs that Options.Generated does not have
	Donated     int            // updates of models that were made in their memory
	Copied      int            // values of models that were copied because the model was written
	Evicted     int            // graphs that were dropped
	Kept        int            // graphs in Options.Folder
	Ignored     int            // files of it that are no graphs of sessions, or cannot be read or written
	AtOnce      map[string]int // calls that cannot be recorded, by operator
	Longest     int            // calls of the largest flush
}

func (s *Stats) flushed(why Reason, calls int) {
	s.Flushes[why]++
	s.Longest = max(s.Longest, calls)
}

// Stats returns the counts.
func (s *Session) Stats() Stats {
	defer s.enter("Stats")()
	return s.counted()
}

// counted is a copy of the counts of now.
func (s *Session) counted() Stats {
	st := s.stats
	st.Flushes, st.AtOnce = maps.Clone(st.Flushes), maps.Clone(st.AtOnce)
	st.Kept, st.Ignored = s.cache.folder.counts()
	return st
}

// String lists the counts that are not zero.
func (s Stats) String() string {
	var b strings.Builder
	line := func(name string, n int) {
		if n != 0 {
			fmt.Fprintf(&b, "%-12s %d\n", name, n)
		}
	}
	line("calls", s.Calls)
	line("runs", s.Runs)
	for _, why := range slices.Sorted(maps.Keys(s.Flushes)) {
		line("flush "+string(why), s.Flushes[why])
	}
	line("graphs", s.Graphs)
	line("compiles", s.Compiles)
	line("hits", s.Hits)
	line("interpreted", s.Interpreted)
	line("programs", s.Programs)
	line("refused", s.Refused)
	line("missed", s.Missed)
	line("donated", s.Donated)
	line("copied", s.Copied)
	line("evicted", s.Evicted)
	line("kept", s.Kept)
	line("ignored", s.Ignored)
	for _, name := range slices.Sorted(maps.Keys(s.AtOnce)) {
		line("at once "+name, s.AtOnce[name])
	}
	line("longest", s.Longest)
	return b.String()
}
