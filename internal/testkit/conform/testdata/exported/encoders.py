"""Encoders of texts and pairs of encoder and decoder of transformers, from small random configurations."""
import transformers as T
from transformers.cache_utils import DynamicCache, EncoderDecoderCache

from torchnet import net

CASES = {}
SMALL = dict(vocab_size=99, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64, initializer_range=0.2)
PAIR = dict(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64, init_std=0.2, pad_token_id=0, bos_token_id=1, eos_token_id=2,
            decoder_start_token_id=2, forced_eos_token_id=2)


def encoder(name, config, opset=18, types=True, cls=T.AutoModel, **kw):
    inputs = {"input_ids": ("ids:99", ["N", "S"]), "attention_mask": ("mask", ["N", "S"])}
    if types:
        inputs["token_type_ids"] = ("ids:2", ["N", "S"])
    CASES.update(net(name, "encoder", lambda: cls.from_config(config()), inputs, {"N": 2, "S": 6}, {"N": 3, "S": 9}, opset, **kw))


def pair(name, config, opset=18, **kw):
    """An encoder and a decoder that sees the whole text."""
    inputs = {"input_ids": ("ids:99", ["N", "S"]), "attention_mask": ("mask", ["N", "S"]), "decoder_input_ids": ("ids:99", ["N", "T"])}
    CASES.update(net(name, "encoder and decoder", lambda: T.AutoModelForSeq2SeqLM.from_config(config()), inputs,
                     {"N": 2, "S": 6, "T": 4}, {"N": 3, "S": 9, "T": 5}, opset, lambda m, f: m(**f, use_cache=False).logits, **kw))


def step(name, config, heads, width, layers=2, opset=18, **kw):
    """A decoder that goes on from a cache, next to the result of the encoder."""
    inputs = {"decoder_input_ids": ("ids:99", ["N", "T"]), "encoder": ("f32", ["N", "S", 32]), "attention_mask": ("mask", ["N", "S"])}
    for i in range(layers):
        inputs[f"past_key_{i}"] = ("f32", ["N", heads, "P", width])
        inputs[f"past_value_{i}"] = ("f32", ["N", heads, "P", width])

    def call(m, f):
        past = EncoderDecoderCache(DynamicCache([(f[f"past_key_{i}"], f[f"past_value_{i}"]) for i in range(layers)]), DynamicCache())
        out = m(decoder_input_ids=f["decoder_input_ids"], attention_mask=f["attention_mask"], encoder_outputs=(f["encoder"],), past_key_values=past, use_cache=True)
        return [out.logits, out.past_key_values.self_attention_cache]

    CASES.update(net(name, "decoder, cache, crossing", lambda: T.AutoModelForSeq2SeqLM.from_config(config()), inputs,
                     {"N": 2, "S": 6, "T": 3, "P": 6}, {"N": 3, "S": 9, "T": 2, "P": 0}, opset, call, **kw))


T5 = dict(vocab_size=99, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0, relative_attention_num_buckets=8,
          relative_attention_max_distance=16)
encoder("bert", lambda: T.BertConfig(**SMALL))
encoder("bert_masked", lambda: T.BertConfig(**SMALL), opset=23, cls=T.AutoModelForMaskedLM)
encoder("roberta", lambda: T.RobertaConfig(**{**SMALL, "max_position_embeddings": 66}, pad_token_id=0), opset=20, types=False)
encoder("albert", lambda: T.AlbertConfig(**SMALL, embedding_size=16), opset=23)
encoder("electra", lambda: T.ElectraConfig(**SMALL, embedding_size=16), opset=21)
encoder("distilbert", lambda: T.DistilBertConfig(vocab_size=99, dim=32, hidden_dim=48, n_layers=2, n_heads=4, max_position_embeddings=64, initializer_range=0.2), types=False)
encoder("deberta_v2", lambda: T.DebertaV2Config(**SMALL, relative_attention=True, position_buckets=4, pos_att_type=["p2c", "c2p"], norm_rel_ebd="layer_norm", share_att_key=True,
        conv_kernel_size=3, conv_act="gelu"))
encoder("deberta", lambda: T.DebertaConfig(**SMALL, relative_attention=True, pos_att_type=["p2c", "c2p"]), opset=21)
encoder("mpnet", lambda: T.MPNetConfig(**{**SMALL, "max_position_embeddings": 66}), types=False)
encoder("modernbert", lambda: T.ModernBertConfig(**SMALL, pad_token_id=0, local_attention=4, global_attn_every_n_layers=2), opset=23, types=False)
encoder("xlm_roberta", lambda: T.XLMRobertaConfig(**{**SMALL, "max_position_embeddings": 66}, pad_token_id=0), types=False)
encoder("camembert", lambda: T.CamembertConfig(**{**SMALL, "max_position_embeddings": 66}, pad_token_id=0), types=False, opset=20, cls=T.AutoModelForTokenClassification)
encoder("mobilebert", lambda: T.MobileBertConfig(**SMALL, embedding_size=16, intra_bottleneck_size=16, num_feedforward_networks=2))
encoder("squeezebert", lambda: T.SqueezeBertConfig(**SMALL, embedding_size=32), opset=21)

encoder("fnet", lambda: T.FNetConfig(vocab_size=99, hidden_size=32, intermediate_size=48, num_hidden_layers=2, max_position_embeddings=64), opset=23)



encoder("roformer", lambda: T.RoFormerConfig(**SMALL, embedding_size=32), opset=20)
encoder("nomic_bert", lambda: T.NomicBertConfig(**SMALL), opset=23)
pair("t5", lambda: T.T5Config(**T5))
pair("mt5", lambda: T.MT5Config(**T5), opset=23)
pair("bart", lambda: T.BartConfig(**PAIR), opset=20)
pair("marian", lambda: T.MarianConfig(**PAIR))
pair("pegasus", lambda: T.PegasusConfig(**PAIR), opset=21)
pair("m2m_100", lambda: T.M2M100Config(**PAIR))
step("t5_step", lambda: T.T5Config(**T5), 4, 8)
step("bart_step", lambda: T.BartConfig(**PAIR), 4, 8, opset=23)
encoder("bert_newest", lambda: T.BertConfig(**SMALL), opset=25)
pair("t5_newest", lambda: T.T5Config(**T5), opset=25)
