// Package tokens makes token numbers of texts and texts of token numbers, by the vocabulary
// of a GGUF file: byte pairs over bytes (GPT-2, Llama 3, Qwen) and SentencePiece's pairs by
// scores (Llama 1 and 2, Mistral, Gemma).
//
// The package stands above array/gguf, whose keys it reads, and below models. It does not apply
// templates of chats, and it takes texts as they are: Qwen's own tokenizer makes Unicode's
// form NFC of them first.
//
// Read vocabulary.go first, then pairs.go, which joins neighbours; bytes.go has how files name
// bytes and the patterns that cut texts into words.
package tokens
