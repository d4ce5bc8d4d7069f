"""Networks of torchvision that classify and segment pictures and videos, of every family one with few layers."""
import functools

import torch
import torchvision
from torchvision.models import convnext, densenet, efficientnet, mnasnet, regnet, resnet, swin_transformer, vgg
from torchvision.models.video import mvit, swin_transformer as swin3d
from torchvision.models.video import resnet as video

from torchnet import net

M = torchvision.models
CASES = {}


def vision(name, build=None, size=64, opset=18, kind="classification", shape=None, number=2, **kw):
    inputs = {"x": ("f32", shape or ["N", 3, size, size])}
    CASES.update(net(name, kind, build or (lambda: getattr(M, name)(weights=None, num_classes=10)), inputs, {"N": number, "H": 64, "W": 48},
                     {"N": 3, "H": 80, "W": 64}, opset, positional=True, **kw))


def narrow(m):
    """The classifiers of AlexNet and VGG have most of their weights."""
    last = [c for c in m.features if hasattr(c, "out_channels")][-1].out_channels
    m.classifier = torch.nn.Sequential(torch.nn.Linear(last * m.avgpool.output_size[0] ** 2, 32), torch.nn.ReLU(), torch.nn.Dropout(), torch.nn.Linear(32, 10))
    return m


layer_norm = functools.partial(convnext.LayerNorm2d, eps=1e-6)
vision("alexnet", lambda: narrow(M.alexnet(num_classes=10)), opset=20)
vision("convnext", lambda: M.ConvNeXt([convnext.CNBlockConfig(16, 32, 1), convnext.CNBlockConfig(32, None, 2)], num_classes=10), opset=23)
vision("densenet", lambda: M.DenseNet(8, (2, 2, 2), 16, num_classes=10))
vision("efficientnet_b0")
vision("efficientnet_v2", lambda: M.EfficientNet([efficientnet.FusedMBConvConfig(1, 3, 1, 24, 24, 1), efficientnet.FusedMBConvConfig(4, 3, 2, 24, 48, 1),
       efficientnet.MBConvConfig(4, 3, 2, 48, 64, 1)], 0.1, num_classes=10, last_channel=64), opset=21)
vision("googlenet", lambda: M.googlenet(weights=None, num_classes=10, init_weights=False, aux_logits=False), opset=23)
vision("inception_v3", lambda: M.inception_v3(weights=None, num_classes=10, init_weights=False, aux_logits=False), size=96)
vision("maxvit", lambda: M.MaxVit((64, 64), 16, 2, [16, 32], [1, 1], 8, 0.0, num_classes=10), opset=20)
vision("mnasnet0_5")
vision("mobilenet_v2", opset=21)
vision("mobilenet_v3_small")
vision("regnet_x", lambda: regnet.RegNet(regnet.BlockParams.from_init_params(depth=6, w_0=16, w_a=8.0, w_m=2.0, group_width=8), num_classes=10), opset=23)
vision("regnet_y", lambda: regnet.RegNet(regnet.BlockParams.from_init_params(depth=6, w_0=16, w_a=8.0, w_m=2.0, group_width=8, se_ratio=0.25), num_classes=10))
vision("resnet18", opset=23)
vision("resnet_bottleneck", lambda: resnet.ResNet(resnet.Bottleneck, [1, 1, 1, 1], num_classes=10), external=True)
vision("resnext", lambda: resnet.ResNet(resnet.Bottleneck, [1, 1, 1, 1], groups=4, width_per_group=16, num_classes=10), opset=20)
vision("shufflenet_v2_x0_5")
vision("squeezenet1_1", opset=21)
vision("swin", lambda: M.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], num_classes=10), opset=23)
vision("swin_v2", lambda: M.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], num_classes=10, block=swin_transformer.SwinTransformerBlockV2,
       downsample_layer=swin_transformer.PatchMergingV2))
vision("vgg", lambda: narrow(M.VGG(vgg.make_layers([8, "M", 16, "M", 32, 32, "M"]), num_classes=10, init_weights=False)))
vision("vgg_bn", lambda: narrow(M.VGG(vgg.make_layers([8, "M", 16, "M", 32, 32, "M"], batch_norm=True), num_classes=10, init_weights=False)), opset=23)
vision("vit", lambda: M.VisionTransformer(32, 8, 2, 4, 32, 48, num_classes=10), size=32, opset=20)
vision("vit_open", lambda: M.resnet18(weights=None, num_classes=10), shape=["N", 3, "H", "W"])

SEGMENTED = ["N", 3, "H", "W"]
dilated = lambda: resnet.ResNet(resnet.Bottleneck, [1, 1, 1, 1], replace_stride_with_dilation=[False, True, True])
vision("deeplabv3", lambda: M.segmentation.deeplabv3._deeplabv3_resnet(dilated(), 5, None), kind="segmentation", shape=SEGMENTED)
vision("deeplabv3_mobilenet", lambda: M.segmentation.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5), kind="segmentation", shape=SEGMENTED, opset=23)
vision("fcn", lambda: M.segmentation.fcn._fcn_resnet(dilated(), 5, True), kind="segmentation", shape=SEGMENTED, opset=21)
vision("lraspp", lambda: M.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5), kind="segmentation", shape=SEGMENTED)

CLIP = ["N", 3, 8, 32, 32]
vision("r3d", lambda: video.VideoResNet(video.BasicBlock, [video.Conv3DSimple] * 4, [1, 1, 1, 1], video.BasicStem, 10), kind="video", shape=CLIP)
vision("mc3", lambda: video.VideoResNet(video.BasicBlock, [video.Conv3DSimple] + [video.Conv3DNoTemporal] * 3, [1, 1, 1, 1], video.BasicStem, 10), kind="video", shape=CLIP, opset=21)
vision("r2plus1d", lambda: video.VideoResNet(video.BasicBlock, [video.Conv2Plus1D] * 4, [1, 1, 1, 1], video.R2Plus1dStem, 10), kind="video", shape=CLIP)
vision("mvit", lambda: mvit.MViT((32, 32), 8, [mvit.MSBlockConfig(1, 16, 32, [3, 3, 3], [3, 3, 3], [1, 1, 1], [1, 2, 2]),
       mvit.MSBlockConfig(2, 32, 32, [3, 3, 3], [3, 3, 3], [1, 2, 2], [1, 1, 1])], True, False, True, True, num_classes=10), kind="video", shape=CLIP)
vision("swin3d", lambda: swin3d.SwinTransformer3d([2, 4, 4], 16, [2, 2], [2, 4], [4, 4, 4], num_classes=10), kind="video", shape=CLIP, opset=20)
CASES.update(net("raft_small", "optical flow", lambda: M.optical_flow.raft_small(weights=None), {"a": ("unit", ["N", 3, 128, 128]), "b": ("unit", ["N", 3, 128, 128])},
                 {"N": 1}, {"N": 2}, 20, lambda m, f: m(f["a"], f["b"], 2)[-1]))
