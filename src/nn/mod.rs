//! Neural networks on the local machine: tokenizers, chat templates, decoders,
//! sentence encoders. Nothing here knows what the text is about.
