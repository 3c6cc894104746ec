//! What sequences have in common: a tree of shared beginnings.

use std::ops::Range;

/// Beginnings shorter than this many tokens beyond those already shared are not
/// worth a segment of their own.
pub(super) const MIN_SHARED: usize = 16;

/// A plan to read some sequences so that what several begin with is read once.
///
/// Each sequence keeps at least its last token to itself, since a prediction is
/// wanted after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixTree {
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    n_tokens: usize,
    n_tokens_naive: usize,
}

/// Tokens that several sequences have in the same places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The shared tokens before these.
    pub(super) parent: Option<usize>,
    /// The place of the first in the sequences.
    pub(super) start: usize,
    /// The place after the last.
    pub(super) end: usize,
    /// One of the sequences.
    pub(super) example: usize,
    /// How many sequences lean on it.
    pub(super) n_leaves: usize,
}

/// One sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// Which one.
    pub(super) sequence: usize,
    /// The shared tokens before its own.
    pub(super) parent: Option<usize>,
    /// The place of the first of its own.
    pub(super) start: usize,
}

impl PrefixTree {
    /// The plan for some sequences, none of which is empty.
    ///
    /// All that lean on a node follow each other; besides, sequences are taken in
    /// the order given, by the first of those that belong together.
    pub fn new(sequences: &[&[u32]]) -> Self {
        Self::beside(sequences, &[])
    }

    /// The same plan, where what a sequence has in common with one of `others`, which
    /// are not read themselves, is shared too: others like these may follow.
    pub(super) fn beside(sequences: &[&[u32]], others: &[&[u32]]) -> Self {
        let all = [sequences, others].concat();
        let is_own = |&&index: &&usize| index < sequences.len();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&index| all[index]);
        let shared: Vec<usize> =
            order.windows(2).map(|pair| n_shared(all[pair[0]], all[pair[1]])).collect();
        let mut tree = Self {
            nodes: Vec::new(),
            leaves: Vec::new(),
            n_tokens: 0,
            n_tokens_naive: sequences.iter().map(|tokens| tokens.len()).sum(),
        };
        // Runs of the order that share a parent, the first on top.
        let mut open = vec![(0..order.len(), None)];
        while let Some((run, parent)) = open.pop() {
            let start = parent.map_or(0, |node: usize| tree.nodes[node].end);
            let n_leaves = order[run.clone()].iter().filter(is_own).count();
            if run.len() < 2 || n_leaves == 0 {
                let own = order[run].iter().filter(is_own);
                tree.leaves.extend(own.map(|&sequence| Leaf { sequence, parent, start }));
                continue;
            }
            let first_given = |run: &Range<usize>| order[run.clone()].iter().copied().min();
            let inner = run.start..run.end - 1;
            let least = shared[inner.clone()].iter().copied().min().unwrap_or(start);
            let node = if least >= start + MIN_SHARED {
                let example = first_given(&run).unwrap_or_default();
                tree.nodes.push(Node { parent, start, end: least, example, n_leaves });
                Some(tree.nodes.len() - 1)
            } else {
                parent
            };
            // The run falls apart where no more is shared.
            let mut parts = Vec::new();
            let mut first = run.start;
            for at in inner.filter(|&at| shared[at] == least) {
                parts.push((first..at + 1, node));
                first = at + 1;
            }
            parts.push((first..run.end, node));
            parts.sort_by_key(|(part, _)| std::cmp::Reverse(first_given(part)));
            open.extend(parts);
        }
        let in_nodes: usize = tree.nodes.iter().map(|node| node.end - node.start).sum();
        let in_leaves: usize =
            tree.leaves.iter().map(|leaf| sequences[leaf.sequence].len() - leaf.start).sum();
        tree.n_tokens = in_nodes + in_leaves;
        tree
    }

    /// The tokens that are read under this plan.
    pub fn n_prefill_tokens(&self) -> usize {
        self.n_tokens
    }

    /// The tokens that would be read if each sequence were read by itself.
    pub fn n_prefill_tokens_naive(&self) -> usize {
        self.n_tokens_naive
    }

    /// The shared beginnings; a parent comes before its children.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The sequences in the order of work.
    pub(super) fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// A node and those before it, the first of the sequence first.
    pub(super) fn chain(&self, node: Option<usize>) -> Vec<usize> {
        let mut chain: Vec<usize> =
            std::iter::successors(node, |&node| self.nodes[node].parent).collect();
        chain.reverse();
        chain
    }
}

/// The tokens that two sequences begin with, short of the last of either.
fn n_shared(a: &[u32], b: &[u32]) -> usize {
    let alike = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    alike.min(a.len().saturating_sub(1)).min(b.len().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(sequences: &[Vec<u32>]) -> PrefixTree {
        PrefixTree::new(&sequences.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// A sequence of parts, each a number and how often it stands there.
    fn sequence(parts: &[(u32, usize)]) -> Vec<u32> {
        parts.iter().flat_map(|&(token, count)| vec![token; count]).collect()
    }

    #[test]
    fn the_prompts_of_an_essay_share_the_template_and_then_the_essay() {
        let sequences = [
            sequence(&[(1, 100), (5, 200), (7, 10)]),
            sequence(&[(1, 100), (4, 300), (8, 20)]),
            sequence(&[(1, 100), (5, 200), (6, 30)]),
            sequence(&[(1, 100), (4, 300), (9, 20)]),
        ];
        let tree = tree(&sequences);
        let spans: Vec<_> = tree.nodes().iter().map(|node| (node.start, node.end)).collect();
        assert_eq!(spans, [(0, 100), (100, 300), (100, 400)]);
        let order: Vec<_> = tree.leaves().iter().map(|leaf| leaf.sequence).collect();
        assert_eq!(order, [0, 2, 1, 3], "in the order given, as far as what is shared allows");
        assert_eq!(tree.n_prefill_tokens(), 100 + 300 + 20 + 20 + 200 + 30 + 10);
        assert_eq!(tree.n_prefill_tokens_naive(), 310 + 420 + 330 + 420);
    }

    #[test]
    fn what_is_shared_with_others_is_a_node_and_the_others_are_not_read() {
        let own = sequence(&[(1, 50), (2, 9)]);
        let others = [sequence(&[(1, 50), (3, 90)]), sequence(&[(1, 50), (3, 80)])];
        let tree = PrefixTree::beside(&[&own], &[&others[0], &others[1]]);
        let spans: Vec<_> = tree.nodes().iter().map(|node| (node.start, node.end)).collect();
        assert_eq!((spans, tree.leaves().len()), (vec![(0, 50)], 1));
        assert_eq!(tree.nodes()[0].n_leaves, 1);
        assert_eq!((tree.n_prefill_tokens(), tree.n_prefill_tokens_naive()), (59, 59));
    }

    #[test]
    fn equal_sequences_keep_their_last_token_each() {
        let tree = tree(&[vec![3; 50], vec![3; 50], vec![3; 50]]);
        assert_eq!(tree.n_prefill_tokens(), 49 + 3);
    }

    #[test]
    fn a_sequence_that_begins_another_is_shared_but_for_its_last_token() {
        let tree = tree(&[vec![3; 20], vec![3; 60], vec![3; 40]]);
        assert_eq!(tree.nodes().len(), 2);
        assert_eq!(tree.n_prefill_tokens(), 60 + 2);
    }

    #[test]
    fn few_tokens_in_common_are_read_again() {
        let tree = tree(&[sequence(&[(1, 15), (2, 9)]), sequence(&[(1, 15), (3, 9)])]);
        assert_eq!((tree.nodes().len(), tree.n_prefill_tokens()), (0, 48));
    }

    proptest! {
        #[test]
        fn every_sequence_is_put_together_from_its_chain(
            parts in proptest::collection::vec(
                proptest::collection::vec((0u32..2, 5usize..30), 1..5), 0..12,
            )
        ) {
            let sequences: Vec<Vec<u32>> = parts.iter().map(|parts| sequence(parts)).collect();
            let tree = tree(&sequences);
            prop_assert_eq!(tree.leaves().len(), sequences.len());
            let mut n_leaves = vec![0; tree.nodes().len()];
            for leaf in tree.leaves() {
                let tokens = &sequences[leaf.sequence];
                let mut end = 0;
                for node in tree.chain(leaf.parent) {
                    n_leaves[node] += 1;
                    let node = &tree.nodes()[node];
                    prop_assert_eq!(node.start, end);
                    prop_assert!(node.end >= node.start + MIN_SHARED);
                    let example = &sequences[node.example];
                    prop_assert_eq!(&tokens[node.start..node.end], &example[node.start..node.end]);
                    end = node.end;
                }
                prop_assert_eq!(leaf.start, end);
                prop_assert!(end < tokens.len());
            }
            for (node, count) in tree.nodes().iter().zip(n_leaves) {
                prop_assert!(node.n_leaves == count && count > 1);
            }
            prop_assert!(tree.n_prefill_tokens() <= tree.n_prefill_tokens_naive());
        }
    }
}
