//! Tests with stub FMUs: function tables written in Rust, so no shared library is needed (except in `loading` and `before_fmi3`).

mod batches;
mod before_fmi3;
mod bytes;
mod callbacks;
mod derivatives;
mod draft;
mod judge;
mod lifecycle;
mod loading;
mod model_judge;
mod model_sequences;
mod models;
mod sequences;
mod slopes;
mod states;
mod steps;
mod stub;
