//! A bar for each stage on a terminal; elsewhere silence.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::run::{Failed, Progress};

/// A bar over some items, on standard error.
pub(super) fn bar(name: &'static str, n_items: usize) -> ProgressBar {
    let bar = ProgressBar::new(n_items as u64);
    if let Ok(style) =
        ProgressStyle::with_template("{prefix:>9} {wide_bar} {pos}/{len}, {per_sec}, {eta} left")
    {
        bar.set_style(style);
    }
    bar.set_prefix(name);
    bar
}

/// Shows how far the stages are, with rate and time left, on standard error.
/// `indicatif` draws nothing where that is no terminal.
#[derive(Default)]
pub(super) struct Bars {
    current: Mutex<Option<Bar>>,
}

struct Bar {
    bar: ProgressBar,
    n_failed: usize,
}

impl Bars {
    fn with_current(&self, act: impl FnOnce(&mut Option<Bar>)) {
        act(&mut self.current.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Progress for Bars {
    fn begin(&self, stage: &'static str, n_items: usize, n_done: usize) {
        let bar = ProgressBar::new(n_items as u64).with_position(n_done as u64);
        if let Ok(style) = ProgressStyle::with_template(
            "{prefix:>9} {wide_bar} {pos}/{len}, {per_sec}, {eta} left{msg}",
        ) {
            bar.set_style(style);
        }
        bar.set_prefix(stage);
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(500));
        self.with_current(|current| *current = Some(Bar { bar, n_failed: 0 }));
    }

    fn advance(&self, failed: Failed) {
        self.with_current(|current| {
            if let Some(Bar { bar, n_failed }) = current {
                if failed {
                    *n_failed += 1;
                    bar.set_message(format!(", {n_failed} failed"));
                }
                bar.inc(1);
            }
        });
    }

    fn end(&self) {
        self.with_current(|current| {
            if let Some(Bar { bar, .. }) = current.take() {
                bar.finish();
            }
        });
    }
}
