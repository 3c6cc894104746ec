//! Beginnings that were read before and may come again.
//!
//! Keys and values of what prompts had in common stay in memory after the prompts
//! are done, so that the next that begin alike need not read it again: the
//! guideline of a judge, a template with its rubric, an essay whose paragraphs fall
//! into two batches. What stays is part of the memory of keys and values, and gives
//! way as soon as a sequence needs the room, what was used longest ago first. None
//! of this changes a bit of what is read after it.

use std::{collections::VecDeque, sync::Arc};

use super::{kv::Segment, kv_memory::KvMemory, prefix::MIN_SHARED};

/// Prompts that are remembered, as tokens alone: what the next have in common with
/// them is kept.
const N_REMEMBERED: usize = 8;

/// The most beginnings that are kept.
const MAX_ENTRIES: usize = 256;

/// The memory of keys and values of one decoder, with the beginnings that are kept
/// in it.
#[derive(Debug)]
pub struct PrefixCache {
    memory: KvMemory,
    entries: Vec<Entry>,
    remembered: VecDeque<Vec<u32>>,
    /// Counts the uses.
    clock: u64,
    count: PrefillCount,
}

/// The tokens of prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefillCount {
    /// Those that were read, or would have been.
    pub n_read: usize,
    /// Those of the prompts, each by itself.
    pub n_naive: usize,
}

/// A beginning.
#[derive(Debug)]
struct Entry {
    /// All its tokens, from the first of the sequence on.
    tokens: Vec<u32>,
    /// The last of its segments.
    segment: Arc<Segment>,
    /// When it was last of use.
    used: u64,
    /// Whether it is a whole text, kept for a while.
    is_text: bool,
}

impl PrefixCache {
    /// An empty one, with room for this much of keys and values, those of the
    /// sequences in work among them.
    pub fn new(kv_memory_bytes: usize) -> Self {
        Self {
            memory: KvMemory::new(kv_memory_bytes),
            entries: Vec::new(),
            remembered: VecDeque::new(),
            clock: 0,
            count: PrefillCount::default(),
        }
    }

    /// What was read so far by those who worked with it.
    pub fn count(&self) -> PrefillCount {
        self.count
    }

    /// The memory that its beginnings and all sequences share.
    pub(super) fn memory(&self) -> &KvMemory {
        &self.memory
    }

    /// Adds to the count of what was read.
    pub(super) fn add(&mut self, n_read: usize, n_naive: usize) {
        self.count.n_read += n_read;
        self.count.n_naive += n_naive;
    }

    /// The most that is kept of what a sequence begins with.
    pub(super) fn longest(&mut self, tokens: &[u32]) -> Option<Arc<Segment>> {
        self.clock += 1;
        let mut best: Option<(usize, usize)> = None;
        for (index, entry) in self.entries.iter_mut().enumerate() {
            let alike = n_alike(&entry.tokens, tokens);
            if alike == entry.tokens.len() {
                entry.used = self.clock;
            }
            if alike > 0 && best.is_none_or(|(_, most)| alike > most) {
                best = Some((index, alike));
            }
        }
        let (index, n_tokens) = best?;
        let entry = &mut self.entries[index];
        entry.used = self.clock;
        beginning(&entry.segment, n_tokens)
    }

    /// Keeps a beginning, unless all of it is kept already.
    pub(super) fn keep(&mut self, tokens: &[u32], segment: &Arc<Segment>) {
        self.insert(tokens, segment, false);
    }

    /// Keeps a whole text until [`drop_kept_texts`](Self::drop_kept_texts).
    pub(super) fn keep_text(&mut self, tokens: &[u32], segment: &Arc<Segment>) {
        self.insert(tokens, segment, true);
    }

    /// Gives up the texts that scoring jobs asked to keep.
    pub fn drop_kept_texts(&mut self) {
        self.entries.retain(|entry| !entry.is_text);
    }

    fn insert(&mut self, tokens: &[u32], segment: &Arc<Segment>, is_text: bool) {
        let is_kept = |entry: &Entry| n_alike(&entry.tokens, tokens) == tokens.len();
        if tokens.len() < MIN_SHARED || self.entries.iter().any(is_kept) {
            return;
        }
        while self.entries.len() >= MAX_ENTRIES {
            if !self.make_room() {
                return;
            }
        }
        self.clock += 1;
        let (tokens, segment, used) = (tokens.to_vec(), Arc::clone(segment), self.clock);
        self.entries.push(Entry { tokens, segment, used, is_text });
    }

    /// Gives up what was used longest ago of what nothing else leans on. Returns
    /// whether there was anything.
    pub(super) fn make_room(&mut self) -> bool {
        let free = self.entries.iter().enumerate();
        let oldest = free
            .filter(|(_, entry)| Arc::strong_count(&entry.segment) == 1)
            .min_by_key(|(_, entry)| (entry.used, std::cmp::Reverse(entry.tokens.len())))
            .map(|(index, _)| index);
        oldest.map(|index| self.entries.remove(index)).is_some()
    }

    /// Remembers a prompt that was read.
    pub(super) fn remember(&mut self, prompt: &[u32]) {
        if self.remembered.iter().any(|known| known == prompt) {
            return;
        }
        if self.remembered.len() == N_REMEMBERED {
            self.remembered.pop_front();
        }
        self.remembered.push_back(prompt.to_vec());
    }

    /// The prompts that are remembered.
    pub(super) fn remembered(&self) -> Vec<Vec<u32>> {
        self.remembered.iter().cloned().collect()
    }
}

/// How many tokens two sequences begin with alike.
fn n_alike(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The first tokens of the sequence that ends with `segment`.
fn beginning(segment: &Arc<Segment>, n_tokens: usize) -> Option<Arc<Segment>> {
    let mut last = segment;
    while last.start() >= n_tokens {
        last = last.parent()?;
    }
    Some(last.first(n_tokens - last.start()))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{kv::Sequence, kv_layout::KvShape},
        *,
    };

    /// Keeps a beginning of some tokens, after another where that is given.
    fn keep(
        cache: &mut PrefixCache,
        tokens: &[u32],
        parent: Option<&Arc<Segment>>,
    ) -> Arc<Segment> {
        let own = tokens.len() - parent.map_or(0, |parent| parent.end());
        let memory = cache.memory().clone();
        let shape = KvShape::example();
        let mut sequence = Sequence::new(shape, parent.cloned(), own, &memory).unwrap();
        sequence.extend(own);
        let segment = sequence.freeze();
        cache.keep(tokens, &segment);
        segment
    }

    fn found(cache: &mut PrefixCache, tokens: &[u32]) -> Option<(usize, usize)> {
        cache.longest(tokens).map(|segment| (segment.start(), segment.end()))
    }

    #[test]
    fn the_longest_beginning_is_found_in_the_middle_of_a_segment_too() {
        let mut cache = PrefixCache::new(1 << 20);
        let first = keep(&mut cache, &[1; 40], None);
        keep(&mut cache, &[vec![1; 40], vec![2; 30]].concat(), Some(&first));
        let other = |ones, twos, rest| [vec![1; ones], vec![2; twos], vec![3; rest]].concat();
        assert_eq!(found(&mut cache, &other(40, 30, 9)), Some((40, 70)));
        assert_eq!(found(&mut cache, &other(40, 7, 9)), Some((40, 47)));
        assert_eq!(found(&mut cache, &other(40, 0, 9)), Some((0, 40)));
        assert_eq!(found(&mut cache, &other(33, 0, 9)), Some((0, 33)));
        assert_eq!(found(&mut cache, &other(0, 0, 9)), None);
    }

    #[test]
    fn what_was_used_longest_ago_goes_first_and_never_what_is_leant_on() {
        let mut cache = PrefixCache::new(1 << 20);
        let first = keep(&mut cache, &[1; 40], None);
        drop(keep(&mut cache, &[vec![1; 40], vec![2; 30]].concat(), Some(&first)));
        drop(first);
        drop(keep(&mut cache, &[4; 20], None));
        drop(keep(&mut cache, &[5; 20], None));
        found(&mut cache, &[4; 30]);
        let mut left = Vec::new();
        while cache.make_room() {
            let firsts = cache.entries.iter().map(|entry| entry.tokens.len());
            left.push(firsts.collect::<Vec<_>>());
        }
        assert_eq!(left, [vec![40, 20, 20], vec![20, 20], vec![20], vec![]]);
        assert_eq!(cache.memory().used_bytes(), 0);
    }

    #[test]
    fn what_is_kept_already_is_not_kept_twice() {
        let mut cache = PrefixCache::new(1 << 24);
        let whole = keep(&mut cache, &[1; 40], None);
        cache.keep(&[1; 30], &whole.first(30));
        cache.keep(&[7; MIN_SHARED - 1], &whole);
        assert_eq!(cache.entries.len(), 1);
        for token in 0..3 * MAX_ENTRIES {
            drop(keep(&mut cache, &[u32::try_from(token).unwrap() + 9; 16], None));
        }
        assert_eq!(cache.entries.len(), MAX_ENTRIES);
    }
}
