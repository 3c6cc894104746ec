//! Documents made for the purpose.
