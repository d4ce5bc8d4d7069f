module example.com/llm

go 1.26.0

require (
	github.com/gofx-dev/gofx v0.0.0
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/gofx-dev/gofx => ../..
