//! Tests with stub FMUs: function tables written in Rust, so no shared library is needed (except in `loading`).

mod batches;
mod callbacks;
mod lifecycle;
mod loading;
mod stub;
