//! Merging of neighbouring symbols, best pair first.

use std::{cmp::Reverse, collections::BinaryHeap};

/// A stretch of text that may become a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// Its first byte.
    pub(super) start: usize,
    /// One past its last byte.
    pub(super) end: usize,
    /// Its token, where there is one.
    pub(super) id: Option<u32>,
}

/// What two neighbours may become.
pub(super) struct Merged<P> {
    /// Which pair is merged first: the greatest.
    pub(super) priority: P,
    /// The token they make.
    pub(super) id: u32,
}

/// A pair of neighbours that waits to be merged. Its order is the order of
/// merging: by priority, then the leftmost.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate<P> {
    priority: P,
    left: Reverse<usize>,
    right: usize,
    end: usize,
    id: u32,
}

/// Merges neighbours, the pair of greatest priority first and the leftmost of
/// equals, until no two can be merged. `symbols` must touch and stand in order;
/// `join` says what two neighbours become.
pub(super) fn merge<P: Ord>(
    mut symbols: Vec<Symbol>,
    join: impl Fn(&Symbol, &Symbol) -> Option<Merged<P>>,
) -> Vec<Symbol> {
    let n_symbols = symbols.len();
    let mut previous: Vec<Option<usize>> = (0..n_symbols).map(|at| at.checked_sub(1)).collect();
    let mut next: Vec<Option<usize>> =
        (0..n_symbols).map(|at| (at + 1 < n_symbols).then_some(at + 1)).collect();
    let candidate = |symbols: &[Symbol], left: usize, right: usize| {
        let Merged { priority, id } = join(&symbols[left], &symbols[right])?;
        Some(Candidate { priority, left: Reverse(left), right, end: symbols[right].end, id })
    };
    let mut queue: BinaryHeap<Candidate<P>> =
        (1..n_symbols).filter_map(|right| candidate(&symbols, right - 1, right)).collect();
    while let Some(Candidate { left: Reverse(left), right, end, id, .. }) = queue.pop() {
        let is_stale = is_merged(symbols[left])
            || is_merged(symbols[right])
            || symbols[left].end != symbols[right].start
            || symbols[right].end != end;
        if is_stale {
            continue;
        }
        symbols[left].end = end;
        symbols[left].id = Some(id);
        symbols[right].start = end;
        next[left] = next[right];
        if let Some(after) = next[left] {
            previous[after] = Some(left);
            queue.extend(candidate(&symbols, left, after));
        }
        if let Some(before) = previous[left] {
            queue.extend(candidate(&symbols, before, left));
        }
    }
    symbols.retain(|symbol| !is_merged(*symbol));
    symbols
}

/// Whether a symbol has gone into its left neighbour.
fn is_merged(symbol: Symbol) -> bool {
    symbol.start == symbol.end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Merges of `a`, `b` and their compounds, best first.
    const PAIRS: [(&str, &str); 7] = [
        ("a", "b"),
        ("ab", "ab"),
        ("b", "b"),
        ("a", "a"),
        ("aa", "b"),
        ("ab", "a"),
        ("bb", "abab"),
    ];

    fn join(text: &str, left: &Symbol, right: &Symbol) -> Option<Merged<Reverse<usize>>> {
        let pair = (&text[left.start..left.end], &text[right.start..right.end]);
        let rank = PAIRS.iter().position(|known| *known == pair)?;
        Some(Merged { priority: Reverse(rank), id: u32::try_from(rank).unwrap() })
    }

    fn letters(text: &str) -> Vec<Symbol> {
        (0..text.len()).map(|at| Symbol { start: at, end: at + 1, id: None }).collect()
    }

    /// The definition: look for the best pair among all, merge it, begin anew.
    fn merge_by_definition(text: &str) -> Vec<Symbol> {
        let mut symbols = letters(text);
        loop {
            let best = (1..symbols.len())
                .filter_map(|at| Some((at, join(text, &symbols[at - 1], &symbols[at])?)))
                .max_by_key(|(at, merged)| (merged.priority, Reverse(*at)));
            let Some((at, merged)) = best else {
                return symbols;
            };
            let right = symbols.remove(at);
            symbols[at - 1] = Symbol { id: Some(merged.id), end: right.end, ..symbols[at - 1] };
        }
    }

    proptest! {
        #[test]
        fn the_queue_merges_as_the_definition_does(text in "[abc]{0,40}") {
            let merged = merge(letters(&text), |left, right| join(&text, left, right));
            prop_assert_eq!(merged, merge_by_definition(&text));
        }
    }
}
