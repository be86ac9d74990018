//! Work that blocks, on threads where no request waits for it but its own.
//!
//! Guarantees: each kind of work has threads of its own, so no kind keeps another one waiting; what a request has begun goes on when
//! nobody waits for its answer any more, and has its thread until it is done.

use super::problem::ProblemDetails;
use crate::listen::CONNECTIONS;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Changes of the wanted state of rigs: a moment each, as long as the disk takes.
pub static CHANGES: Pool = Pool::of(16);
/// Pauses: as long as an activation takes, which may be for ever.
pub static PAUSES: Pool = Pool::of(16);
/// Ends of pauses: some milliseconds each.
pub static RESUMES: Pool = Pool::of(16);
/// Checks of rigs: as long as a compiler takes.
pub static CHECKS: Pool = Pool::of(16);
/// Looks at runs on the disk.
pub static READS: Pool = Pool::of(8);
/// Reads long bodies with values: one at a time, which takes many times its length of memory.
pub static VALUES: Pool = Pool::of(1);
/// Compares patterns and conditions with the names of signals, and tells the values of many, for those who have the token, and for others.
pub static MATCHES: Pool = Pool::of(2);
pub static MATCHES_OF_STRANGERS: Pool = Pool::of(1);
/// Looks at all rigs: however many ask, one thread looks.
pub static SCRAPES: Pool = Pool::of(1);

/// Threads that the pools need, and one for a piece of a file on each connection.
pub const THREADS: usize = 16 + 16 + 16 + 16 + 8 + 1 + 2 + 1 + 1 + 2 * CONNECTIONS;

/// Threads for one kind of work.
pub struct Pool {
    free: Semaphore,
    threads: usize,
}

impl Pool {
    const fn of(threads: usize) -> Pool {
        Pool { free: Semaphore::const_new(threads), threads }
    }

    /// Does the work as soon as a thread is free.
    pub async fn run<T: Send + 'static>(
        &'static self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ProblemDetails> {
        let place = self.free.acquire().await.map_err(|error| ProblemDetails::internal(error.to_string()))?;
        in_place(place, work).await
    }

    /// Does the work if a thread is free. `what`: the kind of work, for the refusal when there is too much of it.
    pub async fn run_now<T: Send + 'static>(
        &'static self,
        what: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ProblemDetails> {
        let Ok(place) = self.free.try_acquire() else {
            return Err(ProblemDetails::too_many(format!(
                "{} {what} are under way already: try again later",
                self.threads
            )));
        };
        in_place(place, work).await
    }
}

async fn in_place<T: Send + 'static>(
    place: SemaphorePermit<'static>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ProblemDetails> {
    let work = move || {
        let _until_it_is_done = place;
        work()
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| ProblemDetails::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[tokio::test]
    async fn a_pool_that_is_full_keeps_no_other_one_waiting_and_refuses_or_waits() {
        static ONE: Pool = Pool::of(1);
        static OTHER: Pool = Pool::of(1);
        let (go_on, waits) = channel::<()>();
        let first = tokio::spawn(ONE.run(move || waits.recv().is_err()));
        while ONE.free.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = ONE.run_now("things", || ()).await.unwrap_err().into_response();
        assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"1".parse().unwrap()));
        assert!(tokio::time::timeout(Duration::from_millis(50), ONE.run(|| ())).await.is_err());
        OTHER.run_now("things", || ()).await.unwrap();
        // Nobody waits for the first one any more, and it has its thread.
        first.abort();
        assert!(ONE.run_now("things", || ()).await.is_err());
        drop(go_on);
        ONE.run(|| ()).await.unwrap();
    }
}
