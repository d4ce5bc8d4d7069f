package repeat

// Run is a stretch of a sequence: Count groups of Period items each, from item At on.
type Run struct {
	At, Period, Count int
}

// Len returns the number of items.
func (r Run) Len() int { return r.Period * r.Count }

// Items is a sequence in which Find looks for runs.
type Items struct {
	// Keys tell items apart: those with different keys are not the same. An item
	// with the key "" is in no run.
	Keys []string
	// Same reports whether the groups of n items at i and k, whose keys agree, are the
	// same; nil means that equal keys are enough.
	Same func(i, k, n int) bool
	// MaxPeriod bounds the items of a group.
	MaxPeriod int
	// Accept decides about a run of two groups or more; nil takes all.
	Accept func(r Run) bool
}

// Find returns runs that do not overlap, in order. From left to right it takes, at
// each item, the run that begins there and is longest, of equally long ones that with
// the shortest groups.
func (s *Items) Find() []Run {
	keys := s.numbers()
	var runs []Run
	for i := 0; i < len(keys); i++ {
		if r := s.longest(keys, i); r.Count > 1 {
			runs = append(runs, r)
			i += r.Len() - 1
		}
	}
	return runs
}

// numbers replaces keys by numbers, which compare faster; -1 for "".
func (s *Items) numbers() []int {
	seen := map[string]int{"": -1}
	keys := make([]int, len(s.Keys))
	for i, k := range s.Keys {
		n, ok := seen[k]
		if !ok {
			n = len(seen)
			seen[k] = n
		}
		keys[i] = n
	}
	return keys
}

func (s *Items) longest(keys []int, at int) Run {
	var best Run
	var tried []Run
	for p := 1; p <= s.MaxPeriod && at+2*p <= len(keys); p++ {
		if keys[at] != keys[at+p] || implied(tried, p) || !agree(keys, at, at+p, p) {
			continue
		}
		r := s.extend(keys, Run{at, p, 1})
		if r.Count < 2 {
			continue
		}
		tried = append(tried, r)
		if r.Len() > best.Len() && (s.Accept == nil || s.Accept(r)) {
			best = r
		}
	}
	return best
}

// implied reports whether groups of p items are several smaller ones of a run that
// reaches further than two of them: nothing longer comes of them.
// Ref: Fine, Wilf, Uniqueness theorems for periodic functions, 1965.
func implied(tried []Run, p int) bool {
	for _, r := range tried {
		if p%r.Period == 0 && r.Len() >= p+r.Period {
			return true
		}
	}
	return false
}

// extend adds the groups after a run that are the same as its first.
func (s *Items) extend(keys []int, r Run) Run {
	p := r.Period
	for next := r.At + r.Len(); next+p <= len(keys) && agree(keys, r.At, next, p); next += p {
		if s.Same != nil && !s.Same(r.At, next, p) {
			break
		}
		r.Count++
	}
	return r
}

func agree(keys []int, i, k, n int) bool {
	for d := range n {
		if keys[i+d] < 0 || keys[i+d] != keys[k+d] {
			return false
		}
	}
	return true
}

// At returns the run of groups of p items that begins at an item.
func (s *Items) At(at, p int) Run {
	keys := s.numbers()
	if at < 0 || p < 1 || at+p > len(keys) || !agree(keys, at, at, p) {
		return Run{}
	}
	return s.extend(keys, Run{at, p, 1})
}
