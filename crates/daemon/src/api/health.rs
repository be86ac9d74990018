//! Whether the daemon answers.

use super::rigs;
use crate::rigs::Rigs;
use crate::service::Pulse;
use axum::extract::State;
use std::sync::Arc;
use std::time::Duration;

/// Time between two proofs that the API answers.
const ANSWER: Duration = Duration::from_millis(500);

/// Answers the question for all rigs, in the runtime that answers requests, again and again; the pulse is that runtime's. It takes
/// no connection, since there may be none left, and is counted nowhere.
pub async fn answer(rigs: Arc<Rigs>, pulse: Pulse) {
    loop {
        drop(rigs::list(State(rigs.clone())).await);
        pulse.beat();
        tokio::time::sleep(ANSWER).await;
    }
}

/// Whether the daemon answers.
#[utoipa::path(get, path = "/healthz", responses((status = 200, description = "it does", body = String)))]
pub(super) async fn health() -> &'static str {
    "ok\n"
}
