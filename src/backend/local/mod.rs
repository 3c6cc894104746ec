//! A model on this machine.

mod decoder;
mod error;
mod inquiry;
mod opened;
mod options;
mod scoring;
mod speech;
mod stop;

pub use decoder::LocalBackend;
pub use error::LocalError;
pub use options::LocalOptions;
