//! A bar for each stage on a terminal; elsewhere silence.

use std::cell::{Cell, RefCell};

use indicatif::{ProgressBar, ProgressStyle};

use crate::run::{Failed, Progress};

/// Shows how far the stages are, with rate and time left, on standard error.
/// `indicatif` draws nothing where that is no terminal.
#[derive(Default)]
pub(super) struct Bars {
    bar: RefCell<Option<ProgressBar>>,
    n_failed: Cell<usize>,
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
        bar.enable_steady_tick(std::time::Duration::from_millis(500));
        self.n_failed.set(0);
        self.bar.replace(Some(bar));
    }

    fn advance(&self, failed: Failed) {
        if let Some(bar) = &*self.bar.borrow() {
            if failed {
                self.n_failed.set(self.n_failed.get() + 1);
                bar.set_message(format!(", {} failed", self.n_failed.get()));
            }
            bar.inc(1);
        }
    }

    fn end(&self) {
        if let Some(bar) = self.bar.take() {
            bar.finish();
        }
    }
}
