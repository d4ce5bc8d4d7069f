package sampling

// Distribution returns the probability of each token, 0 for those that the rules leave out.
func Distribution(s *Sampler, scores []float32) ([]float64, error) {
	if err := s.rank(scores); err != nil {
		return nil, err
	}
	out, sum := make([]float64, len(scores)), 0.0
	for _, c := range s.cut() {
		out[c.token] = c.score
		sum += c.score
	}
	for i := range out {
		out[i] /= sum
	}
	return out, nil
}
