//! A model on this machine.

mod decoder;
mod error;
mod opened;
mod options;
mod speech;
mod stop;

pub use decoder::LocalBackend;
pub use error::LocalError;
pub use options::LocalOptions;
