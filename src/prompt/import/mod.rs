//! The wording of the public release, out of a user's own checkout.
//!
//! Nothing of the release is part of this program: its Python files and
//! notebooks are parsed where the user has them, and what they say is written
//! as templates into a folder of the user's.

mod checkout;
mod notebook;
mod placeholder;
mod python;
mod release;
mod shots;
mod value;

pub use release::{ImportError, ImportReport, import};
