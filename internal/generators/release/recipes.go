package main

import (
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// recipe is what formula and Dockerfile are made of.
type recipe struct {
	Home, Tag, Number string
	Systems           []system // those that Homebrew runs on
	Linux             string   // the name of an archive for Linux, with Docker's word for the processor
}

type system struct {
	On       string // Homebrew's word
	Archives []archive
}

type archive struct{ On, Name, Sum string }

var formula = template.Must(template.New("formula").Parse(`class Fxgen < Formula
  desc "Captures networks written in Go and writes them as optimised Go code"
  homepage "{{.Home}}"
  version "{{.Number}}"
  license "Apache-2.0"

  depends_on "go" # which fxgen calls for models that are Go code
{{range .Systems}}
  on_{{.On}} do
{{- range .Archives}}
    on_{{.On}} do
      url "{{$.Home}}/releases/download/{{$.Tag}}/{{.Name}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "fxgen"
  end

  test do
    assert_match "v#{version}", shell_output("#{bin}/fxgen version")
  end
end
`))

var dockerfile = template.Must(template.New("Dockerfile").Parse(`# fxgen and nothing else, for models in files: docker build -t fxgen . && docker run -v "$PWD:/work" fxgen stats net.onnx
# Go code needs the go command: FROM an image of Go, with the same ADD.
FROM scratch
ARG TARGETARCH
ADD {{.Linux}} /bin/
WORKDIR /tmp
WORKDIR /work
ENTRYPOINT ["/bin/fxgen"]
`))

// recipes writes the formula and the Dockerfile for archives with these checksums. Each is left out where the release
// has no archive for it.
func (m *maker) recipes(targets []platform, sums map[string]string) error {
	r := recipe{Home: "https://" + repo.Module, Tag: m.version, Number: strings.TrimPrefix(m.version, "v")}
	for _, s := range []struct{ goos, on string }{{"darwin", "macos"}, {"linux", "linux"}} {
		one := system{On: s.on}
		for _, p := range targets {
			if p.os == s.goos {
				on := map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch]
				one.Archives = append(one.Archives, archive{on, p.archive(m.version), sums[p.archive(m.version)]})
			}
		}
		if len(one.Archives) > 0 {
			r.Systems = append(r.Systems, one)
		}
		if len(one.Archives) > 0 && s.goos == "linux" {
			r.Linux = platform{"linux", "${TARGETARCH}"}.archive(m.version)
		}
	}
	for name, t := range map[string]*template.Template{"fxgen.rb": formula, "Dockerfile": dockerfile} {
		if len(r.Systems) == 0 || t == dockerfile && r.Linux == "" {
			continue
		}
		var b strings.Builder
		if err := t.Execute(&b, r); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(m.out, name), []byte(b.String()), 0o666); err != nil {
			return err
		}
	}
	return nil
}
