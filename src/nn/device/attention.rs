//! Attention on a device, in candle's own operations.

use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops::{softmax, softmax_last_dim};

use super::plan::{Bucket, Plan, are_consecutive};

/// What a plan needs on a device.
#[derive(Debug)]
pub(super) struct Tables {
    buckets: Vec<BucketTables>,
    /// The rows of the buckets that each row is made of, and what is added to their
    /// weights; `None` where the rows of the buckets are those of the step.
    merging: Option<(Tensor, Tensor)>,
}

#[derive(Debug)]
struct BucketTables {
    /// `None` for all rows of the step.
    rows: Option<Tensor>,
    /// `[pieces, 1, rows, keys]`
    mask: Option<Tensor>,
}

impl Tables {
    pub(super) fn new(plan: &Plan, n_rows: usize, device: &Device) -> Result<Self> {
        let buckets = plan
            .buckets
            .iter()
            .map(|bucket| {
                let is_plain = bucket.rows.len() == n_rows && are_consecutive(&bucket.rows);
                let rows =
                    (!is_plain).then(|| Tensor::new(bucket.rows.as_slice(), device)).transpose()?;
                let shape = (bucket.slices.len(), 1, bucket.n_rows, bucket.n_keys);
                let mask = bucket
                    .mask
                    .as_deref()
                    .map(|mask| Tensor::from_slice(mask, shape, device))
                    .transpose()?;
                Ok(BucketTables { rows, mask })
            })
            .collect::<Result<Vec<_>>>()?;
        let n_bucket_rows = plan.buckets.iter().map(|bucket| bucket.rows.len()).sum();
        let merging = &plan.merging;
        let merging = (!merging.is_plain(n_bucket_rows))
            .then(|| -> Result<_> {
                let mask = (n_rows, merging.depth, 1);
                Ok((
                    Tensor::new(merging.places.as_slice(), device)?,
                    Tensor::from_slice(&merging.mask, mask, device)?,
                ))
            })
            .transpose()?;
        Ok(Self { buckets, merging })
    }
}

/// What attention needs to know of a decoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads {
    pub(super) n_heads: usize,
    pub(super) n_kv_heads: usize,
    pub(super) head_size: usize,
}

/// What the rows of a bucket get from its keys, in single precision.
struct Partial {
    /// `[rows, heads * head_size]`
    values: Tensor,
    /// The logarithm of the sum of the exponentials of the scores, `[rows, heads]`;
    /// `None` where no row has another part.
    weights: Option<Tensor>,
}

/// Attention in one layer: `[rows, heads * head_size]` in single precision.
///
/// `queries` are `[rows, heads, head_size]`, `segments` the keys and values of this
/// layer, `[kv_heads, 2, capacity, head_size]`, of the same type. Scores, softmax and
/// the sum over segments are in single precision.
pub(super) fn attend(
    plan: &Plan,
    tables: &Tables,
    heads: Heads,
    queries: &Tensor,
    segments: &[&Tensor],
) -> Result<Tensor> {
    let is_whole = plan.merging.depth == 1;
    let partials = plan
        .buckets
        .iter()
        .zip(&tables.buckets)
        .map(|(bucket, tables)| heads.attend(bucket, tables, queries, segments, is_whole))
        .collect::<Result<Vec<_>>>()?;
    let values: Vec<&Tensor> = partials.iter().map(|partial| &partial.values).collect();
    let values = Tensor::cat(&values, 0)?;
    let Some((places, mask)) = &tables.merging else { return Ok(values) };
    let values = values.index_select(places, 0)?;
    if is_whole {
        return Ok(values);
    }
    let weights: Vec<&Tensor> =
        partials.iter().filter_map(|partial| partial.weights.as_ref()).collect();
    let Heads { n_heads, head_size, .. } = heads;
    let (n_rows, depth) = (queries.dim(0)?, plan.merging.depth);
    let weights = Tensor::cat(&weights, 0)?.index_select(places, 0)?;
    let weights = weights.reshape((n_rows, depth, n_heads))?.broadcast_add(mask)?;
    let weights = softmax(&weights, 1)?.unsqueeze(D::Minus1)?;
    let values = values.reshape((n_rows, depth, n_heads, head_size))?;
    values.broadcast_mul(&weights)?.sum(1)?.reshape((n_rows, n_heads * head_size))
}

impl Heads {
    fn attend(
        self,
        bucket: &Bucket,
        tables: &BucketTables,
        queries: &Tensor,
        segments: &[&Tensor],
        is_whole: bool,
    ) -> Result<Partial> {
        let Self { n_heads, n_kv_heads, head_size } = self;
        let (n_pieces, n_rows) = (bucket.slices.len(), bucket.n_rows);
        let shared = n_heads / n_kv_heads;
        let queries = match &tables.rows {
            Some(rows) => queries.index_select(rows, 0)?,
            None => queries.clone(),
        };
        // The query heads that share keys stand one under the other, so that keys
        // are never repeated.
        let queries = queries
            .reshape((n_pieces, n_rows, n_kv_heads, shared, head_size))?
            .permute((0, 2, 3, 1, 4))?
            .contiguous()?
            .reshape((n_pieces * n_kv_heads, shared * n_rows, head_size))?;
        let both = keys_and_values(bucket, segments)?;
        let keys = both.narrow(1, 0, 1)?.squeeze(1)?;
        let values = both.narrow(1, 1, 1)?.squeeze(1)?;
        let mut scores = queries.matmul(&keys.t()?)?.to_dtype(DType::F32)?;
        if let Some(mask) = &tables.mask {
            let shape = scores.shape().clone();
            scores = scores
                .reshape((n_pieces, n_kv_heads * shared, n_rows, bucket.n_keys))?
                .broadcast_add(mask)?
                .reshape(shape)?;
        }
        let (shares, weights) = if is_whole {
            (softmax_last_dim(&scores)?, None)
        } else {
            let greatest = scores.max_keepdim(D::Minus1)?;
            let exponentials = scores.broadcast_sub(&greatest)?.exp()?;
            let sums = exponentials.sum_keepdim(D::Minus1)?;
            // Divided here and not after, so that nothing outgrows half precision.
            (exponentials.broadcast_div(&sums)?, Some((greatest + sums.log()?)?))
        };
        let values = shares.to_dtype(values.dtype())?.matmul(&values)?.to_dtype(DType::F32)?;
        // Back to a row for each token.
        let by_rows = |tensor: Tensor, width: usize| {
            tensor
                .reshape((n_pieces, n_kv_heads, shared, n_rows, width))?
                .permute((0, 3, 1, 2, 4))?
                .reshape((n_pieces * n_rows, n_heads * width))
        };
        Ok(Partial {
            values: by_rows(values, head_size)?,
            weights: weights.map(|weights| by_rows(weights, 1)).transpose()?,
        })
    }
}

/// Keys and values of all pieces, `[pieces * kv_heads, 2, keys, head_size]`. Those of
/// a single piece are where they are, others are brought side by side.
fn keys_and_values(bucket: &Bucket, segments: &[&Tensor]) -> Result<Tensor> {
    let parts = bucket
        .slices
        .iter()
        .map(|slice| {
            let segment = segments[slice.segment];
            let n_keys = bucket.n_keys.min(segment.dim(2)? - slice.from);
            let part = segment.narrow(2, slice.from, n_keys)?;
            match bucket.n_keys - n_keys {
                0 => Ok(part),
                n_missing => part.pad_with_zeros(2, 0, n_missing),
            }
        })
        .collect::<Result<Vec<_>>>()?;
    Tensor::cat(&parts, 0)
}
