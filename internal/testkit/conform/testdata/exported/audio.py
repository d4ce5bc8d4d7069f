"""Networks of transformers that hear, from small random configurations."""
import transformers as T

from torchnet import net

CASES = {}
TEXT = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
WAVE = dict(TEXT, vocab_size=30, conv_dim=[16, 16, 16], conv_stride=[5, 2, 2], conv_kernel=[10, 3, 2], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=2, num_feat_extract_layers=3)
PAIR = dict(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
            pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=2)


def heard(name, build, inputs, opset=18, kind="audio", **kw):
    CASES.update(net(name, kind, build, inputs, {"N": 2, "L": 960, "S": 4, "F": 40}, {"N": 3, "L": 1120, "S": 6, "F": 52}, opset, **kw))


wave = {"input_values": ("f32", ["N", "L"])}
heard("whisper", lambda: T.WhisperForConditionalGeneration(T.WhisperConfig(**PAIR, num_mel_bins=8, max_source_positions=20, max_target_positions=32)),
      {"input_features": ("f32", ["N", 8, 40]), "decoder_input_ids": ("ids:99", ["N", "S"])}, call=lambda m, f: m(**f, use_cache=False).logits)
heard("wav2vec2", lambda: T.Wav2Vec2ForCTC(T.Wav2Vec2Config(**WAVE)), wave, opset=20)
heard("wav2vec2_layers", lambda: T.Wav2Vec2Model(T.Wav2Vec2Config(**WAVE, feat_extract_norm="layer", do_stable_layer_norm=True)), wave, call=lambda m, f: m(**f).last_hidden_state)
heard("hubert", lambda: T.HubertModel(T.HubertConfig(**WAVE)), wave, opset=23)
heard("wavlm", lambda: T.WavLMModel(T.WavLMConfig(**WAVE, num_buckets=16, max_bucket_distance=20)), wave, call=lambda m, f: m(**f).last_hidden_state)
heard("data2vec_audio", lambda: T.Data2VecAudioModel(T.Data2VecAudioConfig(**{**WAVE, "num_conv_pos_embeddings": 2, "conv_pos_kernel_size": 5})), wave, opset=21,
      call=lambda m, f: m(**f).last_hidden_state)
heard("sew", lambda: T.SEWModel(T.SEWConfig(**WAVE, squeeze_factor=2)), wave)
heard("wav2vec2_conformer", lambda: T.Wav2Vec2ConformerModel(T.Wav2Vec2ConformerConfig(**WAVE, position_embeddings_type="rotary", conv_depthwise_kernel_size=7)), wave, opset=20,
      call=lambda m, f: m(**f).last_hidden_state)
heard("wav2vec2_bert", lambda: T.Wav2Vec2BertModel(T.Wav2Vec2BertConfig(**TEXT, feature_projection_input_dim=16, conv_depthwise_kernel_size=7)),
      {"input_features": ("f32", ["N", "F", 16])}, call=lambda m, f: m(**f).last_hidden_state)
heard("speech_to_text", lambda: T.Speech2TextForConditionalGeneration(T.Speech2TextConfig(**PAIR, input_feat_per_channel=8, conv_channels=16, max_source_positions=64, max_target_positions=32)),
      {"input_features": ("f32", ["N", "F", 8]), "decoder_input_ids": ("ids:99", ["N", "S"])}, opset=23, call=lambda m, f: m(**f, use_cache=False).logits)
heard("spectrogram_transformer", lambda: T.ASTModel(T.ASTConfig(**TEXT, num_mel_bins=32, max_length=40, patch_size=8, frequency_stride=8, time_stride=8)),
      {"input_values": ("f32", ["N", 40, 32])}, opset=21)
heard("encodec", lambda: T.EncodecModel(T.EncodecConfig(num_filters=4, hidden_size=16, codebook_size=16, codebook_dim=16, upsampling_ratios=[4, 2], num_lstm_layers=1, target_bandwidths=[1.5])),
      {"input_values": ("f32", ["N", 1, "L"])}, call=lambda m, f: m.decoder(m.encoder(f["input_values"])))
heard("dac", lambda: T.DacModel(T.DacConfig(encoder_hidden_size=8, downsampling_ratios=[2, 4], decoder_hidden_size=16, n_codebooks=2, codebook_size=16, codebook_dim=4)),
      {"input_values": ("f32", ["N", 1, "L"])}, opset=20, call=lambda m, f: m.decoder(m.encoder(f["input_values"])))
heard("moonshine", lambda: T.MoonshineForConditionalGeneration(T.MoonshineConfig(vocab_size=99, hidden_size=32, intermediate_size=48, encoder_num_hidden_layers=2, decoder_num_hidden_layers=2,
      encoder_num_attention_heads=4, decoder_num_attention_heads=4, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)),
      {"input_values": ("f32", ["N", "L"]), "decoder_input_ids": ("ids:99", ["N", "S"])}, call=lambda m, f: m(**f, use_cache=False).logits)
