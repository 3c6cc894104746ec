//! Tests over whole files, made here byte by byte.
