package cardtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/ptx"
)

var (
	makeFile = flag.String("make", "", "write a suite into this `file` (TestMake)")
	only     = flag.String("only", "", "of jobs whose names match this `expression`, with -make")
)

// compiler makes PTX of a program's source.
type compiler func(source string) ([]byte, error)

// forCards makes PTX for all cards with the tensor cores that kernels use.
func forCards(source string) ([]byte, error) { return ptx.Compile(source, ptx.Ampere) }

// add compiles the kernels of a job into a pack, and has what it gives computed.
func (s *suite) add(ctx context.Context, p *gpu.Pack, j *job, compile compiler) error {
	m, _, err := j.build(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", j.Name, err)
	}
	text, err := j.target().Text(m, lowering.Options{}, gpu.CUDA)
	if err != nil {
		return fmt.Errorf("%s: %w", j.Name, err)
	}
	if !p.Has(text) {
		image, err := compile(text)
		if err != nil {
			return fmt.Errorf("%s: %w", j.Name, err)
		}
		p.Add(text, image)
	}
	results, err := j.expect(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", j.Name, err)
	}
	s.Jobs = append(s.Jobs, expected{j.Name, results})
	return nil
}

// makeSuite makes the suite of jobs.
func makeSuite(ctx context.Context, list []*job, compile compiler, log func(format string, args ...any)) (*suite, error) {
	s, p := &suite{}, &gpu.Pack{}
	for _, j := range list {
		start := time.Now()
		if err := s.add(ctx, p, j, compile); err != nil {
			return nil, err
		}
		if log != nil {
			log("%s: %d results, %.1f s", j.Name, len(s.Jobs[len(s.Jobs)-1].Results), time.Since(start).Seconds())
		}
	}
	s.Pack = p.Bytes()
	return s, nil
}

// matching returns the jobs that an expression names.
func matching(expression string) (list []*job, err error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs() {
		if re.MatchString(j.Name) {
			list = append(list, j)
		}
	}
	return list, nil
}

// TestMake writes the suite that is embedded in the binary.
func TestMake(t *testing.T) {
	if *makeFile == "" {
		t.Skip("-make names no file to write a suite into")
	}
	list, err := matching(*only)
	require.NoError(t, err)
	s, err := makeSuite(context.Background(), list, forCards, t.Logf)
	require.NoError(t, err)
	data, err := s.bytes()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(*makeFile), 0o755))
	require.NoError(t, os.WriteFile(*makeFile, data, 0o644))
	t.Logf("%d jobs, %d bytes of kernels, %d bytes in all", len(s.Jobs), len(s.Pack), len(data))
}

// TestEveryKernelIsComplete compiles the kernels of all jobs: none may call what the driver does not have.
func TestEveryKernelIsComplete(t *testing.T) {
	list := jobs()
	if !fxtest.IsNightly() {
		var err error
		list, err = matching("^mlp/|^operators/abs-|^control/")
		require.NoError(t, err)
	}
	for _, j := range list {
		m, _, err := j.build(context.Background())
		require.NoError(t, err, j.Name)
		text, err := j.target().Text(m, lowering.Options{}, gpu.CUDA)
		require.NoError(t, err, j.Name)
		image, err := forCards(text)
		if errors.Is(err, ptx.ErrNoCompiler) {
			t.Skip(err)
		}
		require.NoError(t, err, j.Name)
		require.NotContains(t, string(image), ".extern .func", j.Name)
	}
}
