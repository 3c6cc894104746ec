//! The models that the program carries.

use super::Kind;

/// The bytes of tokenizer, base, and what is the model's own; `None` in a program that was
/// built without them.
#[cfg(feature = "distilled")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature there are none")]
pub(super) fn files(kind: Kind) -> Option<[&'static [u8]; 3]> {
    Some([
        include_bytes!("../../models/distilled/tokenizer.json"),
        include_bytes!("../../models/distilled/base.safetensors"),
        match kind {
            Kind::Scorer => include_bytes!("../../models/distilled/scorer.safetensors"),
            Kind::Segmenter => include_bytes!("../../models/distilled/segmenter.safetensors"),
        },
    ])
}

/// None: the program was built without them.
#[cfg(not(feature = "distilled"))]
pub(super) fn files(_: Kind) -> Option<[&'static [u8]; 3]> {
    None
}
