package sampling_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/models/sampling"
)

func sampler(t *testing.T, c sampling.Config) *sampling.Sampler {
	t.Helper()
	s, err := sampling.New(c)
	require.NoError(t, err)
	return s
}

// Each rule, and all together, leave the tokens and probabilities of transformers.
func TestRulesEqualTheReference(t *testing.T) {
	data, err := os.ReadFile("testdata/reference.json")
	require.NoError(t, err)
	var cases []struct {
		Config        sampling.Config
		Scores        []float32
		Seen          []int64
		Probabilities []float64
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	require.Len(t, cases, 16)
	for _, c := range cases {
		s := sampler(t, c.Config)
		s.See(c.Seen...)
		got, err := sampling.Distribution(s, c.Scores)
		require.NoError(t, err)
		for i, want := range c.Probabilities {
			require.Equal(t, want == 0, got[i] == 0, "%+v: token %d", c.Config, i)
			require.InDelta(t, want, got[i], 1e-12, "%+v: token %d", c.Config, i)
		}
	}
}

// Tokens come as often as their probabilities say, and a seed gives the same ones again.
func TestDraws(t *testing.T) {
	scores := []float32{1, float32(math.Inf(-1)), 2, 0}
	const n = 20000
	for _, c := range []sampling.Config{{Temperature: 1, Seed: 5}, {Temperature: 1, TopP: 0.999, Seed: 5}} {
		s := sampler(t, c)
		count := make([]float64, len(scores))
		for range n {
			token, err := s.Next(scores)
			require.NoError(t, err)
			count[token]++
		}
		sum := 1 + math.E + math.E*math.E
		for i, want := range []float64{math.E / sum, 0, math.E * math.E / sum, 1 / sum} {
			require.InDelta(t, want, count[i]/n, 0.01, "token %d", i)
		}
	}
	draw := func(seed uint64) (list []int64) {
		s := sampler(t, sampling.Config{Temperature: 1, Seed: seed})
		for range 16 {
			token, err := s.Next(make([]float32, 10))
			require.NoError(t, err)
			list = append(list, token)
		}
		return list
	}
	require.Equal(t, []int64{2, 5, 0, 4, 7, 5, 1, 0, 7, 2, 1, 4, 3, 1, 3, 1}, draw(1), "the draws of seed 1 on every machine")
	require.Equal(t, draw(1), draw(1))
	require.NotEqual(t, draw(1), draw(2))
}

func TestLikeliest(t *testing.T) {
	for _, c := range []sampling.Config{{}, {TopK: 3, TopP: 0.1, Seed: 9}, {Temperature: 5, TopK: 1}, {Temperature: 1, TopP: 1e-9}, {Temperature: 1, MinP: 1}} {
		s := sampler(t, c)
		token, err := s.Next([]float32{1, 7, 3, 6.9})
		require.NoError(t, err)
		require.EqualValues(t, 1, token, "%+v", c)
	}
	token, err := sampler(t, sampling.Config{}).Next([]float32{1, 3, 3, 3})
	require.NoError(t, err)
	require.EqualValues(t, 1, token, "the lower number of equal ones")
	got, err := sampling.Distribution(sampler(t, sampling.Config{Temperature: 1, TopK: 2}), []float32{3, 1, 3, 3})
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, 0, 0.5, 0}, got)
}

// The penalty is for the tokens of the window, those that were drawn included, once for each token.
func TestRepetition(t *testing.T) {
	s := sampler(t, sampling.Config{Repetition: 2, Window: 2})
	s.See(0, 0)
	scores := []float32{8, 5, 3, -1}
	var got []int64
	for range 6 {
		token, err := s.Next(scores)
		require.NoError(t, err)
		got = append(got, token)
	}
	require.Equal(t, []int64{1, 0, 0, 1, 0, 0}, got)
	require.Equal(t, []float32{8, 5, 3, -1}, scores, "scores stay")
}

// The heap gives tokens in the order of sorting.
func TestOrderOfManyTokens(t *testing.T) {
	scores := make([]float32, 5000)
	for i := range scores {
		scores[i] = float32(i*2741%5000) / 1000
	}
	sorted := slices.Clone(scores)
	slices.Sort(sorted)
	for _, k := range []int{1, 2, 37, 4999, 5000, 6000} {
		got, err := sampling.Distribution(sampler(t, sampling.Config{Temperature: 1, TopK: k}), scores)
		require.NoError(t, err)
		n := 0
		for i, p := range got {
			require.Equal(t, scores[i] >= sorted[max(0, 5000-k)], p > 0)
			if p > 0 {
				n++
			}
		}
		require.Equal(t, min(k, 5000), n)
	}
}

func TestWrongRulesAndScores(t *testing.T) {
	nan, inf := math.NaN(), float32(math.Inf(1))
	for want, c := range map[string]sampling.Config{
		"TopP is 2, expected 0, or 0 to 1":                {TopP: 2},
		"MinP is -0.5, expected 0, or 0 to 1":             {MinP: -0.5},
		"TopK is -1, expected 0, or 1 to 2.147483647e+09": {TopK: -1},
		"Window is -1": {Window: -1},
		"Temperature is NaN, expected 0, or 1e-06 to 1e+06": {Temperature: nan},
		"Temperature is 1e-09":                              {Temperature: 1e-9},
		"Repetition is 0.001, expected 0, or 0.01 to 100":   {Repetition: 0.001},
	} {
		_, err := sampling.New(c)
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, sampling.BadSampling)
	}
	for want, scores := range map[string][]float32{
		"score of token 1 is NaN, expected a number":   {1, float32(nan)},
		"score of token 0 is +Inf":                     {inf, 1},
		"no token of 2 has a score above -Inf":         {-inf, -inf},
		"no token of 0 has a score":                    nil,
		"token 7 was seen, expected one of the 1 that": {1},
	} {
		for _, temperature := range []float64{0, 1} {
			s := sampler(t, sampling.Config{Temperature: temperature, Repetition: 1.5})
			if want[:7] == "token 7" {
				s.See(7)
			}
			_, err := s.Next(scores)
			require.ErrorContains(t, err, want)
			require.ErrorIs(t, err, sampling.BadSampling)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	scores := make([]float32, 150_000)
	for i := range scores {
		scores[i] = float32(8 * math.Sin(float64(i*i)))
	}
	for _, c := range []sampling.Config{{}, {Temperature: 0.8}, {Temperature: 0.8, TopK: 40, TopP: 0.95}, {Temperature: 0.8, TopP: 0.95, MinP: 0.05}} {
		b.Run(fmt.Sprintf("t=%g,k=%d,p=%g,min=%g", c.Temperature, c.TopK, c.TopP, c.MinP), func(b *testing.B) {
			s, err := sampling.New(c)
			require.NoError(b, err)
			for b.Loop() {
				if _, err := s.Next(scores); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
