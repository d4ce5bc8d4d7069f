package models

import (
	"context"
	"testing"

	"github.com/gofx-dev/gofx/fx"
)

// BenchmarkTraceResNet50 captures ResNet-50 at module level: 177 nodes. The aim
// is under 1 ms (torch.fx: 4.7 ms).
func BenchmarkTraceResNet50(b *testing.B) {
	net := Lookup("resnet50").New()
	for b.Loop() {
		if _, err := fx.Trace(context.Background(), net, fx.Input("x", "f32[N,3,224,224]")); err != nil {
			b.Fatal(err)
		}
	}
}
