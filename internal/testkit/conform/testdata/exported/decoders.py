"""Decoders of transformers, from small random configurations, with their caches as inputs and results."""
import transformers as T
from transformers.cache_utils import DynamicCache

from torchnet import net

CASES = {}
SMALL = dict(vocab_size=99, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, initializer_range=0.2)
EXPERTS = dict(num_experts=4, num_local_experts=4, num_experts_per_tok=2, moe_intermediate_size=16)
GPT = dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, initializer_range=0.2)


def cached(layers):
    """The call of a decoder with a cache of keys and values."""

    def call(model, feeds):
        past = DynamicCache([(feeds[f"past_key_{i}"], feeds[f"past_value_{i}"]) for i in range(layers)])
        out = model(input_ids=feeds["input_ids"], attention_mask=feeds["attention_mask"], past_key_values=past, use_cache=True)
        return [out.logits, out.past_key_values]

    return call


def build(config):
    """Experts are computed all at once: their loops over those that are hit have no form in ONNX."""
    config._experts_implementation = "batched_mm"
    return T.AutoModelForCausalLM.from_config(config)


def decoder(name, config, heads=2, width=8, opset=18, layers=2, value_width=None, **kw):
    inputs = {"input_ids": ("ids:99", ["N", "S"]), "attention_mask": ("left", ["N", "S+P"])}
    for i in range(layers):
        inputs[f"past_key_{i}"] = ("f32", ["N", heads, "P", width])
        inputs[f"past_value_{i}"] = ("f32", ["N", heads, "P", value_width or width])
    CASES.update(net(name, "decoder, cache", lambda: build(config()), inputs,
                     {"N": 2, "S": 5, "P": 6}, {"N": 3, "S": 7, "P": 0}, opset, cached(layers), **kw))


def whole(name, config, opset=18, length="S", **kw):
    """A decoder without a cache."""
    CASES.update(net(name, "decoder", lambda: build(config()), {"input_ids": ("ids:99", ["N", length])}, {"N": 2, "S": 6}, {"N": 3, "S": 9}, opset,
                     lambda m, f: m(**f, use_cache=False).logits, **kw))


decoder("llama", lambda: T.LlamaConfig(**SMALL))
decoder("llama_long", lambda: T.LlamaConfig(**SMALL, rope_parameters=dict(rope_type="llama3", rope_theta=1e4, factor=8.0, low_freq_factor=1.0,
        high_freq_factor=4.0, original_max_position_embeddings=32)), opset=21)
decoder("qwen2", lambda: T.Qwen2Config(**SMALL), opset=23)
decoder("qwen3", lambda: T.Qwen3Config(**SMALL, head_dim=16), width=16, opset=20)
decoder("qwen3_moe", lambda: T.Qwen3MoeConfig(**SMALL, **EXPERTS, head_dim=8))
decoder("mistral", lambda: T.MistralConfig(**SMALL, sliding_window=4), opset=23)
decoder("mixtral", lambda: T.MixtralConfig(**SMALL, num_local_experts=4, num_experts_per_tok=2))
decoder("gemma", lambda: T.GemmaConfig(**SMALL, head_dim=8), opset=21)
decoder("gemma2", lambda: T.Gemma2Config(**SMALL, head_dim=8, query_pre_attn_scalar=8, sliding_window=4), opset=23)
decoder("gemma3", lambda: T.Gemma3TextConfig(**SMALL, head_dim=8, query_pre_attn_scalar=8, sliding_window=4, layer_types=["sliding_attention", "full_attention"]))
decoder("phi", lambda: T.PhiConfig(**{**SMALL, "num_key_value_heads": 4}), heads=4)
decoder("phi3", lambda: T.Phi3Config(**SMALL), opset=20)
decoder("gpt_neox", lambda: T.GPTNeoXConfig(**SMALL), heads=4, opset=23)
decoder("gpt2", lambda: T.GPT2Config(**GPT), heads=4)
decoder("gptj", lambda: T.GPTJConfig(**GPT, rotary_dim=4), heads=4, opset=21)
decoder("gpt_neo", lambda: T.GPTNeoConfig(vocab_size=99, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]],
        max_position_embeddings=64, window_size=4, initializer_range=0.2), heads=4, most=32)
decoder("gpt_bigcode", lambda: T.GPTBigCodeConfig(**GPT), heads=1, opset=20)
decoder("codegen", lambda: T.CodeGenConfig(**GPT, rotary_dim=4), heads=4)
decoder("opt", lambda: T.OPTConfig(vocab_size=99, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64,
        word_embed_proj_dim=32, init_std=0.2), heads=4, opset=23)
decoder("bloom", lambda: T.BloomConfig(vocab_size=99, hidden_size=32, n_layer=2, n_head=4, initializer_range=0.2), heads=4)
decoder("falcon", lambda: T.FalconConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, initializer_range=0.2), heads=1, opset=21)
decoder("olmo2", lambda: T.Olmo2Config(**SMALL))
decoder("stablelm", lambda: T.StableLmConfig(**SMALL), opset=20)
decoder("cohere", lambda: T.CohereConfig(**SMALL), opset=23)
decoder("starcoder2", lambda: T.Starcoder2Config(**SMALL))
decoder("granite", lambda: T.GraniteConfig(**SMALL), opset=21)
decoder("smollm3", lambda: T.SmolLM3Config(**SMALL, no_rope_layers=[1, 0]))
decoder("deepseek_v3", lambda: T.DeepseekV3Config(**{**SMALL, "num_key_value_heads": 4}, moe_intermediate_size=16, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1,
        q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=4, qk_nope_head_dim=8, v_head_dim=8, first_k_dense_replace=1), heads=1, width=16, value_width=4)
decoder("gpt_oss", lambda: T.GptOssConfig(**SMALL, head_dim=8, num_local_experts=4, num_experts_per_tok=2, sliding_window=4), opset=23)
whole("mamba", lambda: T.MambaConfig(vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=4, initializer_range=0.2), length=6)  # its loop over tokens is written out
whole("mamba2", lambda: T.Mamba2Config(vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=8, head_dim=16, num_heads=4, n_groups=2, chunk_size=4, initializer_range=0.2))
whole("xglm", lambda: T.XGLMConfig(vocab_size=99, d_model=32, ffn_dim=48, num_layers=2, attention_heads=4, max_position_embeddings=64, init_std=0.2), opset=20)
whole("mpt", lambda: T.MptConfig(vocab_size=99, d_model=32, n_layers=2, n_heads=4, max_seq_len=64))
decoder("llama_newest", lambda: T.LlamaConfig(**SMALL), opset=25)
decoder("gemma3_newest", lambda: T.Gemma3TextConfig(**SMALL, head_dim=8, query_pre_attn_scalar=8, sliding_window=4, layer_types=["sliding_attention", "full_attention"]), opset=25)
