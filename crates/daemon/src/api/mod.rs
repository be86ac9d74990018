//! The control API: HTTP/1.1 and JSON, described by itself at `/openapi.json`.
//!
//! Errors are answered as `application/problem+json` (RFC 9457).

mod access;
mod events;
mod guard;
mod health;
mod metrics;
mod pools;
mod problem;
mod query;
mod rigs;
mod router;
mod runs;
mod signals;
mod ticks;
mod values;
mod variables;
mod waits;

pub use access::Access;
pub use health::answer;
pub use pools::THREADS;
pub use router::{over_tcp, router};
