package sampling

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
)

// Config says how tokens are drawn. The zero Config takes the likeliest token.
//
// The rules apply in the order of the fields, as in Hugging Face's transformers: each sees
// what the one before has left.
type Config struct {
	// Repetition divides positive scores of tokens that were seen, and multiplies negative
	// ones; 0 and 1 change nothing. Keskar et al., arXiv:1909.05858.
	Repetition float64
	// Window is how many of the tokens seen last Repetition is for, 0 for all of them.
	Window int
	// Temperature divides the scores; 0 takes the likeliest token, of equal ones the one
	// with the lower number, whatever the fields below say.
	Temperature float64
	// TopK leaves that many of the likeliest tokens, 0 all of them.
	TopK int
	// TopP leaves the fewest of the likeliest tokens whose probabilities sum to that much,
	// 0 all of them. Holtzman et al., arXiv:1904.09751.
	TopP float64
	// MinP leaves the tokens that are at least that many times as likely as the likeliest,
	// 0 all of them. Nguyen et al., arXiv:2407.01082.
	MinP float64
	// Seed makes the draws repeatable: equal seeds, scores and rules give equal tokens.
	Seed uint64
}

// Sampler draws the tokens of one text. It is not for several goroutines at once.
type Sampler struct {
	c     Config
	draws *rand.Rand
	seen  []int64     // the last Window ones, or all
	heap  ranking     // of the tokens that may be drawn
	left  []candidate // of them, by the rules
}

// New returns a sampler that has seen no token. The error is FX8045.
func New(c Config) (*Sampler, error) {
	for _, f := range []struct {
		name        string
		x           float64
		least, most float64
	}{
		{"Repetition", c.Repetition, 0.01, 100},
		{"Window", float64(c.Window), 1, math.MaxInt32},
		{"Temperature", c.Temperature, 1e-6, 1e6},
		{"TopK", float64(c.TopK), 1, math.MaxInt32},
		{"TopP", c.TopP, 0, 1},
		{"MinP", c.MinP, 0, 1},
	} {
		if f.x != 0 && !(f.x >= f.least && f.x <= f.most) {
			number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
			return nil, diag.New(BadSampling, "sampling: "+f.name+" is "+number(f.x)+", expected 0, or "+number(f.least)+" to "+number(f.most))
		}
	}
	return &Sampler{c: c, draws: rand.New(rand.NewPCG(c.Seed, 0))}, nil
}

// See tells the sampler of tokens that it has not drawn, those of a prompt.
func (s *Sampler) See(tokens ...int64) {
	if s.c.Repetition == 0 || s.c.Repetition == 1 {
		return
	}
	s.seen = append(s.seen, tokens...)
	if s.c.Window > 0 && len(s.seen) > s.c.Window {
		s.seen = append(s.seen[:0], s.seen[len(s.seen)-s.c.Window:]...)
	}
}

// Next draws a token of its scores, token 0 first, and sees it. Scores are not changed. Those of
// -Inf are never drawn; NaN, +Inf and scores that leave no token are an error, FX8045.
func (s *Sampler) Next(scores []float32) (int64, error) {
	if err := s.rank(scores); err != nil {
		return 0, err
	}
	token := s.draw()
	s.See(token)
	return token, nil
}

// rank makes the heap of the tokens with a score, after Repetition.
func (s *Sampler) rank(scores []float32) error {
	s.heap = s.heap[:0]
	for i, x := range scores {
		switch v := float64(x); {
		case math.IsNaN(v) || math.IsInf(v, 1):
			return diag.New(BadSampling, "sampling: the score of token "+strconv.Itoa(i)+" is "+strconv.FormatFloat(v, 'g', -1, 32)+", expected a number").
				WithHint("look for overflow in the network or for damaged weights")
		default:
			s.heap = append(s.heap, candidate{int64(i), v})
		}
	}
	if err := s.repeat(len(scores)); err != nil {
		return err
	}
	kept := s.heap[:0]
	for _, c := range s.heap {
		if !math.IsInf(c.score, -1) {
			kept = append(kept, c)
		}
	}
	if s.heap = kept; len(kept) == 0 {
		return diag.New(BadSampling, "sampling: no token of "+strconv.Itoa(len(scores))+" has a score above -Inf, expected one")
	}
	return nil
}

// repeat changes the scores of tokens that were seen, once each, while the heap is still in
// the order of the tokens.
func (s *Sampler) repeat(n int) error {
	done := make(map[int64]bool, len(s.seen))
	for _, t := range s.seen {
		switch {
		case t < 0 || t >= int64(n):
			return diag.New(BadSampling, "sampling: token "+strconv.FormatInt(t, 10)+" was seen, expected one of the "+strconv.Itoa(n)+" that have scores")
		case done[t]:
			continue
		}
		done[t] = true
		if c := &s.heap[t]; c.score > 0 {
			c.score /= s.c.Repetition
		} else {
			c.score *= s.c.Repetition
		}
	}
	return nil
}

// draw takes a token of the heap.
func (s *Sampler) draw() int64 {
	if s.c.Temperature == 0 {
		return slices.MaxFunc(s.heap, order).token
	}
	left := s.cut()
	sum := 0.0
	for _, c := range left {
		sum += c.score
	}
	at := s.draws.Float64() * sum
	for _, c := range left {
		if at -= c.score; at < 0 {
			return c.token
		}
	}
	return left[0].token // at was the sum, by rounding
}

// cut returns the tokens that the rules leave, with numbers in proportion to their
// probabilities in place of scores. If a rule cuts, the likeliest come first.
func (s *Sampler) cut() []candidate {
	top := slices.MaxFunc(s.heap, order).score
	total := 0.0
	for i := range s.heap {
		c := &s.heap[i]
		c.score = math.Exp((c.score - top) / s.c.Temperature)
		total += c.score
	}
	topP := s.c.TopP > 0 && s.c.TopP < 1
	if s.c.TopK == 0 && !topP && s.c.MinP == 0 {
		return s.heap
	}
	s.heap.heapify()
	s.left = s.left[:0]
	most := len(s.heap)
	if k := s.c.TopK; k > 0 && k < most {
		most, total = k, 0
		for range k {
			s.left = append(s.left, s.heap.pop())
			total += s.left[len(s.left)-1].score
		}
	}
	before := 0.0 // of the tokens that are likelier
	for i := range most {
		if i == len(s.left) {
			s.left = append(s.left, s.heap.pop())
		}
		x := s.left[i].score
		if i > 0 && (topP && before >= s.c.TopP*total || x < s.c.MinP*s.left[0].score) {
			return s.left[:i]
		}
		before += x
	}
	return s.left
}
