gofx 1
type "example.com/net.Net"

graph net(%x: f32[N,4,8,8]) {
  symbol N = dim(%x, 0)
  %stem = call_module[stem](%x) : f32[N,4,8,8]
  %stage_0_conv = call_module[stage.0.conv](%stem) : f32[N,4,8,8] in "stage.0" "example.com/net.Block"
  %relu = call_function[relu](%stage_0_conv) : f32[N,4,8,8] in "stage.0" "example.com/net.Block"
  %stage_0_down = call_module[stage.0.down](%stem) : f32[N,4,8,8] in "stage.0" "example.com/net.Block"
  %add = call_function[add](%relu, %stage_0_down) : f32[N,4,8,8] in "stage.0" "example.com/net.Block"
  %stage_1_conv = call_module[stage.1.conv](%add) : f32[N,4,8,8] in "stage.1" "example.com/net.Block"
  %relu_1 = call_function[relu](%stage_1_conv) : f32[N,4,8,8] in "stage.1" "example.com/net.Block"
  %add_1 = call_function[add](%relu_1, %add) : f32[N,4,8,8] in "stage.1" "example.com/net.Block"
  %stage_2_conv = call_module[stage.2.conv](%add_1) : f32[N,4,8,8] in "stage.2" "example.com/net.Block"
  %relu_2 = call_function[relu](%stage_2_conv) : f32[N,4,8,8] in "stage.2" "example.com/net.Block"
  %add_2 = call_function[add](%relu_2, %add_1) : f32[N,4,8,8] in "stage.2" "example.com/net.Block"
  %stage_3_conv = call_module[stage.3.conv](%add_2) : f32[N,4,8,8] in "stage.3" "example.com/net.Block"
  %relu_3 = call_function[relu](%stage_3_conv) : f32[N,4,8,8] in "stage.3" "example.com/net.Block"
  %add_3 = call_function[add](%relu_3, %add_2) : f32[N,4,8,8] in "stage.3" "example.com/net.Block"
  %mean = call_function[mean](%add_3) {dim=[2,3]} : f32[N,4]
  %scale = get_attr[head.scale] : f32[4] in "head" "example.com/net.Head"
  %scaled = call_function[mul](%mean, %scale) : f32[N,4] in "head" "example.com/net.Head"
  %head_fc = call_module[head.fc](%scaled) : f32[N,10] in "head" "example.com/net.Head"
  return %head_fc
}
param stem.weight : f32[4,4,3,3]
param stage.0.conv.weight : f32[4,4,3,3]
param stage.0.down.weight : f32[4,4,1,1]
param stage.1.conv.weight : f32[4,4,3,3]
param stage.2.conv.weight : f32[4,4,3,3]
param stage.3.conv.weight : f32[4,4,3,3]
param head.scale : f32[4]
param head.fc.weight : f32[10,4]
module stem = conv2d {padding=[1]} (weight=stem.weight, bias=_) type "example.com/nn.Conv2d"
module stage.0.conv = conv2d {padding=[1]} (weight=stage.0.conv.weight, bias=_) type "example.com/nn.Conv2d"
module stage.0.down = conv2d (weight=stage.0.down.weight, bias=_) type "example.com/nn.Conv2d"
module stage.1.conv = conv2d {padding=[1]} (weight=stage.1.conv.weight, bias=_) type "example.com/nn.Conv2d"
module stage.2.conv = conv2d {padding=[1]} (weight=stage.2.conv.weight, bias=_) type "example.com/nn.Conv2d"
module stage.3.conv = conv2d {padding=[1]} (weight=stage.3.conv.weight, bias=_) type "example.com/nn.Conv2d"
module head.fc = linear (weight=head.fc.weight, bias=_) type "example.com/nn.Linear"
