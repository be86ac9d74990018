//! FMUs by themselves: archives, descriptions, libraries, single calls, and what an importer may call.

#[path = "../foreign/mod.rs"]
mod foreign;
#[path = "../program/mod.rs"]
mod program;

mod archive;
mod call;
mod descriptions;
mod inspect;
mod legal;
mod loading;
mod mutations;
mod tools;
mod validate;
