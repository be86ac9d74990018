//! `vecud doctor`: each rule on made-up machines, the whole program on this one, and the files that its fixes name.

mod config;
mod fix;
mod machine;
mod odd;
mod rules;
mod whole;
