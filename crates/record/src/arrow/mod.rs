//! `signals.arrows`: the rows of `signals.csv` as columns, an Arrow IPC stream, for pandas, polars and DuckDB.
//!
//! * The first column is `time`, s, as `Float64`. The others have the FMI type of their variable: numbers as they are, booleans and
//!   clocks as `Bool`, strings as `Utf8`, binaries as `Binary`, enumerations as `Int64`. Where a row of `signals.csv` has an empty
//!   cell there is null.
//! * A field has `unit`, if its variable has one, and `fmi_type`; the schema has `rig`, `mode`, `version` and `start_time`, and in
//!   `fmus` a list in JSON of the facts about each FMU.
//!
//! Rows wait in memory until a batch is written: after a quarter of a second, or when they have about a mebibyte. After each batch the
//! file is a whole stream (module `stream`).
//!
//! The format of a stream: <https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format>.

mod columns;
mod sink;
mod stream;

pub(super) use self::sink::Arrow;
