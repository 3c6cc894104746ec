//! Reading prompts, each shared beginning once.

use std::sync::Arc;

use super::{
    decoder::{Decoder, Step, Wanted},
    decoder_error::DecoderError,
    kv::{Segment, Sequence},
    kv_memory::KvMemoryError,
    prefix::{Leaf, MIN_SHARED, PrefixTree},
    prefix_cache::PrefixCache,
};

/// The most tokens of one step: enough for the matrix products to pay, few enough
/// for their inputs to stay in the cache.
pub(super) const MAX_ROWS: usize = 256;

/// Whether prompts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// They are.
    Read,
    /// They are not, and what would be read is counted.
    Count,
}

/// Why a prompt was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ReadError {
    /// Its keys and values find no room.
    #[error(transparent)]
    Memory(#[from] KvMemoryError),
    /// The decoder failed.
    #[error(transparent)]
    Decoder(#[from] DecoderError),
}

/// What comes next of some prompts.
#[derive(Debug)]
pub(super) enum Next {
    /// The sequence of the prompt with this index: as much as it holds is read.
    Open(usize, Sequence),
    /// The prompt with this index cannot be read.
    Failed(usize, ReadError),
    /// There is no room until others are done.
    Wait,
    /// All were opened.
    Over,
}

/// Opens prompts one by one, those that begin alike after each other.
pub(super) struct Reading<'a> {
    decoder: &'a Decoder,
    prompts: Vec<&'a [u32]>,
    tree: PrefixTree,
    cache: &'a mut PrefixCache,
    effort: Effort,
    /// The shared beginnings that are read and still needed.
    segments: Vec<Option<Arc<Segment>>>,
    /// By node, the leaves that were not opened yet.
    n_waiting: Vec<usize>,
    n_opened: usize,
}

impl<'a> Reading<'a> {
    /// Prepares to read prompts, none of which is empty, with what `cache` holds of
    /// the same decoder.
    pub(super) fn new(
        decoder: &'a Decoder,
        prompts: Vec<&'a [u32]>,
        cache: &'a mut PrefixCache,
        effort: Effort,
    ) -> Self {
        let remembered = cache.remembered();
        let others: Vec<&[u32]> = remembered.iter().map(Vec::as_slice).collect();
        let tree = PrefixTree::beside(&prompts, &others);
        Self {
            decoder,
            prompts,
            segments: vec![None; tree.nodes().len()],
            n_waiting: tree.nodes().iter().map(|node| node.n_leaves).collect(),
            tree,
            cache,
            effort,
            n_opened: 0,
        }
    }

    /// Opens the next prompt, with room for `room(index)` tokens after it. Its shared
    /// beginning is read, the rest is for the caller to read.
    ///
    /// Beginnings that are kept for later give way where memory is short. Then the
    /// prompt waits if others are in work (`may_wait`), and otherwise is tried by
    /// itself, with nothing shared: whether it fits hangs on no other.
    pub(super) fn next(&mut self, room: impl Fn(usize) -> usize, may_wait: bool) -> Next {
        let Some(&leaf) = self.tree.leaves().get(self.n_opened) else {
            if let Some(last) = self.tree.leaves().last() {
                self.cache.remember(self.prompts[last.sequence]);
            }
            return Next::Over;
        };
        let index = leaf.sequence;
        let room = room(index);
        let opened = match self.open(leaf, room) {
            Err(ReadError::Memory(_)) if may_wait => return Next::Wait,
            Err(ReadError::Memory(_)) => self.open_alone(index, room),
            other => other,
        };
        self.n_opened += 1;
        for node in self.tree.chain(leaf.parent) {
            self.n_waiting[node] -= 1;
            if self.n_waiting[node] == 0 {
                self.segments[node] = None;
            }
        }
        match opened {
            Ok(sequence) => {
                let n_tokens = self.prompts[index].len();
                self.cache.add(n_tokens - sequence.n_tokens(), n_tokens);
                Next::Open(index, sequence)
            }
            Err(error) => Next::Failed(index, error),
        }
    }

    /// Counts tokens that are read after a prompt that was opened.
    pub(super) fn count(&mut self, n_tokens: usize) {
        self.cache.add(n_tokens, n_tokens);
    }

    /// Keeps a text that is read for a while, for those that begin as it does.
    pub(super) fn keep_text(&mut self, tokens: &[u32], sequence: Sequence) {
        self.cache.keep_text(tokens, &sequence.freeze());
    }

    /// Opens the sequence of a leaf, and reads what it shares where nobody has yet.
    fn open(&mut self, leaf: Leaf, room: usize) -> Result<Sequence, ReadError> {
        let mut prefix: Option<Arc<Segment>> = None;
        for node in self.tree.chain(leaf.parent) {
            let segment = match self.segments[node].take() {
                Some(segment) => segment,
                None => self.read(node, prefix)?,
            };
            self.segments[node] = Some(Arc::clone(&segment));
            prefix = Some(segment);
        }
        let tokens = self.prompts[leaf.sequence];
        let kept = self.cache.longest(&tokens[..tokens.len() - 1]);
        if let Some(kept) = kept.filter(|kept| kept.end() >= leaf.start + MIN_SHARED) {
            prefix = Some(kept);
        }
        let start = prefix.as_deref().map_or(0, Segment::end);
        Ok(self.sequence(prefix.as_ref(), tokens.len() - start + room)?)
    }

    /// Opens a prompt that shares nothing with any other, all that is kept given up.
    fn open_alone(&mut self, index: usize, room: usize) -> Result<Sequence, ReadError> {
        self.segments.fill(None);
        while self.cache.make_room() {}
        Ok(self.sequence(None, self.prompts[index].len() + room)?)
    }

    /// Reads a shared beginning, as far as it was not read before.
    fn read(
        &mut self,
        node: usize,
        mut prefix: Option<Arc<Segment>>,
    ) -> Result<Arc<Segment>, ReadError> {
        let node = &self.tree.nodes()[node];
        let tokens = &self.prompts[node.example][..node.end];
        if let Some(kept) = self.cache.longest(tokens)
            && kept.end() > node.start
        {
            prefix = Some(kept);
        }
        let start = prefix.as_deref().map_or(0, Segment::end);
        let segment = match prefix {
            Some(prefix) if start == tokens.len() => prefix,
            prefix => {
                let mut sequence = self.sequence(prefix.as_ref(), tokens.len() - start)?;
                for tokens in tokens[start..].chunks(MAX_ROWS) {
                    self.forward(&mut sequence, tokens)?;
                }
                self.cache.add(tokens.len() - start, 0);
                sequence.freeze()
            }
        };
        self.cache.keep(tokens, &segment);
        Ok(segment)
    }

    fn forward(&self, sequence: &mut Sequence, tokens: &[u32]) -> Result<(), DecoderError> {
        match self.effort {
            Effort::Read => {
                let step = Step { sequence, tokens, wanted: Wanted::Nothing };
                self.decoder.forward(&mut [step])?;
            }
            Effort::Count => {
                sequence.extend(tokens.len());
            }
        }
        Ok(())
    }

    /// A sequence, for which beginnings that are only kept give way.
    fn sequence(
        &mut self,
        prefix: Option<&Arc<Segment>>,
        capacity: usize,
    ) -> Result<Sequence, KvMemoryError> {
        let is_hopeless = self.decoder.sequence_bytes(capacity) > self.cache.memory().limit_bytes();
        loop {
            let memory = self.cache.memory();
            let result = match self.effort {
                Effort::Read => self.decoder.sequence(prefix.cloned(), capacity, memory),
                Effort::Count => {
                    let shape = self.decoder.kv_shape();
                    let n_bytes = self.decoder.sequence_bytes(capacity);
                    Sequence::imagined(shape, prefix.cloned(), capacity, memory, n_bytes)
                }
            };
            if result.is_ok() || is_hopeless || !self.cache.make_room() {
                return result;
            }
        }
    }
}
