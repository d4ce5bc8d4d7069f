"""Networks of transformers that see pictures and videos, from small random configurations."""
import transformers as T

from torchnet import net

CASES = {}
VIT = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8, initializer_range=0.2)
SWIN = dict(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4, initializer_range=0.2)
TEXT = dict(vocab_size=99, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64)


def picture(name, build, opset=18, size=32, shape=None, kind="picture", name_in="pixel_values", more=None, sizes=None, other=None, **kw):
    inputs = {name_in: ("f32", shape or ["N", 3, size, size]), **(more or {})}
    CASES.update(net(name, kind, build, inputs, {"N": 2, "H": 64, "W": 48, "S": 6, **(sizes or {})}, {"N": 3, "H": 96, "W": 64, "S": 9, **(other or {})}, opset, **kw))


def auto(config, cls=T.AutoModel, **kw):
    return lambda: cls.from_config(getattr(T, config)(**kw))


OPEN = ["N", 3, "H", "W"]
picture("hf_vit", auto("ViTConfig", **VIT))
picture("vit_open_size", auto("ViTConfig", **VIT), opset=20, shape=OPEN, call=lambda m, f: m(**f, interpolate_pos_encoding=True))
picture("deit", auto("DeiTConfig", **VIT), opset=23)
picture("beit", auto("BeitConfig", **VIT, use_relative_position_bias=True, layer_scale_init_value=0.1))
picture("dinov2", auto("Dinov2Config", **{k: v for k, v in VIT.items() if k != "intermediate_size"}), shape=["N", 3, "8*H", "8*W"], sizes={"H": 4, "W": 5}, other={"H": 6, "W": 4})
picture("dinov2_registers", auto("Dinov2WithRegistersConfig", **{k: v for k, v in VIT.items() if k != "intermediate_size"}), opset=21)
picture("dinov3", auto("DINOv3ViTConfig", **VIT, num_register_tokens=2), opset=23)
picture("hf_swin", auto("SwinConfig", **SWIN))
picture("swin_v2", auto("Swinv2Config", **SWIN), opset=20)
picture("hf_convnext", auto("ConvNextConfig", hidden_sizes=[16, 32], depths=[1, 1], num_stages=2), shape=OPEN)
picture("convnext_v2", auto("ConvNextV2Config", hidden_sizes=[16, 32], depths=[1, 1], num_stages=2), opset=23)
picture("segformer", auto("SegformerConfig", T.AutoModelForSemanticSegmentation, num_encoder_blocks=2, depths=[1, 1], sr_ratios=[4, 2], hidden_sizes=[16, 32],
        patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=16), shape=OPEN, kind="segmentation")
picture("mobilevit", auto("MobileViTConfig", image_size=64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 24, 24, 32, 48]), size=64, opset=21)
picture("poolformer", auto("PoolFormerConfig", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1]), size=64)
picture("pvt_v2", auto("PvtV2Config", hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 2, 3, 4]), size=64, opset=23)
picture("hf_regnet", auto("RegNetConfig", embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], groups_width=8), size=64)
picture("levit", auto("LevitConfig", image_size=64, hidden_sizes=[16, 24, 32], num_attention_heads=[2, 3, 4], depths=[1, 1, 1], key_dim=[8, 8, 8]), size=64, opset=20)
picture("hiera", auto("HieraConfig", embed_dim=8, image_size=[32, 32], depths=[1, 1, 1], num_heads=[1, 2, 4], masked_unit_size=[4, 4], num_query_pool=2, patch_stride=[2, 2],
        patch_size=[3, 3], patch_padding=[1, 1]), opset=23)
picture("vit_mae", lambda: T.ViTMAEModel(T.ViTMAEConfig(**VIT, mask_ratio=0.5)), more={"noise": ("unit", ["N", 16])}, opset=20)
picture("swin2sr", lambda: T.Swin2SRForImageSuperResolution(T.Swin2SRConfig(image_size=16, patch_size=1, embed_dim=16, depths=[2], num_heads=[2], window_size=4, upscale=2)), size=16)
picture("dpt", lambda: T.DPTForDepthEstimation(T.DPTConfig(**{**VIT, "num_hidden_layers": 4}, backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 8, 16, 16], fusion_hidden_size=8)), kind="depth")
picture("videomae", auto("VideoMAEConfig", **VIT, num_frames=4), shape=["N", 4, 3, 32, 32], kind="video", opset=23)
picture("timesformer", auto("TimesformerConfig", **VIT, num_frames=4), shape=["N", 4, 3, 32, 32], kind="video")
picture("vivit", auto("VivitConfig", **{k: v for k, v in VIT.items() if k != "patch_size"}, num_frames=4, tubelet_size=[2, 8, 8]), shape=["N", 4, 3, 32, 32], kind="video", opset=20)

CLIP = dict(vision_config=VIT, text_config=TEXT, projection_dim=16)
texts = {"input_ids": ("ids:98", ["T", "S"])}
both = dict(kind="picture and text", sizes={"T": 2}, other={"T": 4})
picture("clip", auto("CLIPConfig", **{**CLIP, "text_config": {**TEXT, "eos_token_id": 98}}), more={**texts, "attention_mask": ("mask", ["T", "S"])}, **both,
        call=lambda m, f: [(o := m(**f)).logits_per_image, o.text_embeds, o.image_embeds])
picture("siglip", auto("SiglipConfig", vision_config=VIT, text_config=dict(TEXT, projection_size=32)), more={"input_ids": ("ids:98", ["T", "S"])}, opset=23, **both,
        call=lambda m, f: [(o := m(**f)).logits_per_image, o.text_embeds, o.image_embeds])
picture("blip", lambda: T.BlipForImageTextRetrieval(T.BlipConfig(vision_config=VIT, text_config=dict(TEXT, encoder_hidden_size=32, num_hidden_layers=2), image_text_hidden_size=16)),
        more={"input_ids": ("ids:98", ["N", "S"])}, kind="picture and text", opset=20, call=lambda m, f: m(**f).itm_score)
picture("vilt", auto("ViltConfig", **{**VIT, **TEXT}), more={"input_ids": ("ids:98", ["N", "S"])}, kind="picture and text", call=lambda m, f: m(**f).last_hidden_state)
picture("owlvit", lambda: T.OwlViTForObjectDetection(T.OwlViTConfig(vision_config=VIT, text_config=dict(TEXT, max_position_embeddings=9, eos_token_id=98), projection_dim=32)),
        more={"input_ids": ("ids:98", ["N*2", "S"])}, sizes={"N": 1}, other={"N": 2}, kind="detection", opset=21, call=lambda m, f: [(o := m(**f)).logits, o.pred_boxes])
picture("layoutlmv3", auto("LayoutLMv3Config", **TEXT, input_size=32, patch_size=8, max_2d_position_embeddings=64, coordinate_size=6, shape_size=4, initializer_range=0.2), kind="picture and text",
        more={"input_ids": ("ids:98", ["N", "S"]), "bbox": ("box", ["N", "S", 4])}, call=lambda m, f: m(**f).last_hidden_state)
picture("vision_decoder", lambda: T.VisionEncoderDecoderModel(encoder=T.ViTModel(T.ViTConfig(**VIT)), decoder=T.AutoModelForCausalLM.from_config(
        T.TrOCRConfig(vocab_size=99, d_model=32, decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=48, max_position_embeddings=64, cross_attention_hidden_size=32))),
        more={"decoder_input_ids": ("ids:98", ["N", "S"])}, kind="picture and text", opset=20, call=lambda m, f: m(**f).logits)

BACK = dict(backbone_config=T.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], out_features=["stage4"], layer_type="basic"), use_timm_backbone=False)
DETR = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, num_queries=6,
            use_pretrained_backbone=False, backbone=None, **BACK)
boxes = lambda m, f: [(o := m(**f)).logits, o.pred_boxes]
LEVELS = {**BACK, "backbone_config": T.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], out_features=["stage2", "stage3", "stage4"], layer_type="basic")}
picture("detr", lambda: T.DetrForObjectDetection(T.DetrConfig(**DETR)), shape=OPEN, kind="detection", call=boxes)
picture("conditional_detr", lambda: T.ConditionalDetrForObjectDetection(T.ConditionalDetrConfig(**DETR)), size=64, kind="detection", opset=20, call=boxes)
picture("deformable_detr", lambda: T.DeformableDetrForObjectDetection(T.DeformableDetrConfig(**{**DETR, **LEVELS, "num_feature_levels": 3})), size=64, kind="detection", call=boxes)
picture("rt_detr", lambda: T.RTDetrForObjectDetection(T.RTDetrConfig(backbone_config=T.RTDetrResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1],
        layer_type="basic", out_features=["stage2", "stage3", "stage4"]), encoder_in_channels=[16, 24, 32], encoder_hidden_dim=32, encoder_ffn_dim=48, d_model=32, decoder_ffn_dim=48,
        decoder_in_channels=[32, 32, 32], num_queries=6, decoder_layers=2, decoder_attention_heads=4, encoder_attention_heads=4, num_denoising=0)), size=64, kind="detection", call=boxes)
picture("yolos", lambda: T.YolosForObjectDetection(T.YolosConfig(**{**VIT, "image_size": [32, 48]}, num_detection_tokens=5)), shape=["N", 3, 32, 48], kind="detection", opset=23, call=boxes)
picture("mask2former", lambda: T.Mask2FormerForUniversalSegmentation(T.Mask2FormerConfig(backbone_config=T.SwinConfig(**{**SWIN, "image_size": 64, "patch_size": 4, "depths": [1, 1, 1, 1],
        "num_heads": [1, 1, 2, 2], "embed_dim": 8}, out_features=["stage1", "stage2", "stage3", "stage4"]), feature_size=32, mask_feature_size=32, hidden_dim=32, encoder_feedforward_dim=48,
        dim_feedforward=48, num_attention_heads=4, encoder_layers=2, decoder_layers=3, num_queries=6)), size=64, kind="segmentation",
        call=lambda m, f: [(o := m(**f)).class_queries_logits, o.masks_queries_logits])
picture("sam", lambda: T.SamModel(T.SamConfig(vision_config=dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=64, patch_size=8, window_size=4, mlp_dim=48,
        global_attn_indexes=[1], output_channels=16, num_pos_feats=8), prompt_encoder_config=dict(hidden_size=16, image_size=64, patch_size=8, mask_input_channels=4),
        mask_decoder_config=dict(hidden_size=16, mlp_dim=24, num_attention_heads=2, iou_head_hidden_dim=16))), size=64, kind="segmentation",
        more={"input_points": ("f32:20", ["N", 1, "Q", 2])}, sizes={"N": 1, "Q": 2}, other={"N": 2, "Q": 3}, call=lambda m, f: [(o := m(**f)).pred_masks, o.iou_scores])
picture("swin_newest", auto("SwinConfig", **SWIN), opset=25)
