//! Tests over whole files, made here byte by byte.

mod annotations;
mod builder;
mod mutation;
mod pages;
