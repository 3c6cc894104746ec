//! Attention by the fused kernels of FlashAttention 2 (Dao 2023), for sequences that
//! share nothing.
//!
//! The kernels give no sums of exponentials by which the parts of several segments
//! could be merged, so they serve only steps in which each sequence is one segment, as
//! where a prefix is read that nothing comes before. That is where most scores are.

use candle_core::{DType, Result, Tensor};

use super::reading::Reading;

/// As [`attend`](super::attention::attend), or `None` where the kernels do not serve.
pub(super) fn attend(
    reading: &Reading<'_>,
    window: Option<usize>,
    queries: &Tensor,
    segments: &[&Tensor],
) -> Option<Result<Tensor>> {
    let is_supported = queries.device().is_cuda()
        && matches!(queries.dtype(), DType::F16 | DType::BF16)
        && queries.dim(2).is_ok_and(|head_size| head_size <= 256 && head_size % 8 == 0);
    let is_alone = reading.seen.len() == reading.writes.len()
        && reading.seen.iter().all(|segment| segment.start == 0);
    (is_supported && is_alone).then(|| {
        let of_sequence = |write: &super::reading::Write| {
            let n_keys = reading.seen[write.segment].length;
            let segment = segments[write.segment].narrow(2, 0, n_keys)?;
            // `[1, keys, kv_heads, head_size]`, where it lies.
            let part =
                |index| segment.narrow(1, index, 1)?.squeeze(1)?.transpose(0, 1)?.unsqueeze(0);
            let queries = queries.narrow(0, write.rows.start, write.rows.len())?.unsqueeze(0)?;
            // Queries are scaled already. The last query sees the last key.
            let before = window.map(|window| window - 1);
            candle_flash_attn::flash_attn_windowed(
                &queries,
                &part(0)?,
                &part(1)?,
                1.0,
                before,
                Some(0),
            )?
            .squeeze(0)?
            .flatten_from(1)?
            .to_dtype(DType::F32)
        };
        let parts = reading.writes.iter().map(of_sequence).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&parts, 0)
    })
}
