//! The control API: HTTP/1.1 and JSON, described by itself at `/openapi.json`.
//!
//! What goes wrong is told as `application/problem+json` (RFC 9457).

mod events;
mod problem;
mod rigs;
mod runs;
mod signals;
mod ticks;
mod values;
mod variables;
mod waits;

use super::rigs::Rigs;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::{Json, Router};
use problem::Problem;
use std::sync::Arc;
use std::time::Duration;
use tower_http::timeout::TimeoutLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The longest body of a request.
const LONGEST: usize = 4 << 20;
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(300);

#[derive(OpenApi)]
#[openapi(info(
    title = "vecud",
    description = "Rigs of virtual ECUs on this machine: what they are, how they run, what they have measured.",
    license(name = "MIT OR Apache-2.0")
))]
struct Description;

/// Everything that can be asked.
pub fn router(rigs: Arc<Rigs>) -> Router {
    let (router, description) = OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(rigs::list))
        .routes(routes!(rigs::show, rigs::put, rigs::delete))
        .routes(routes!(rigs::start))
        .routes(routes!(rigs::stop))
        .routes(routes!(rigs::clocks))
        .routes(routes!(rigs::reset_clocks))
        .routes(routes!(events::events))
        .routes(routes!(signals::show))
        .routes(routes!(variables::set))
        .routes(routes!(ticks::tick))
        .routes(routes!(waits::wait))
        .routes(routes!(runs::list))
        .routes(routes!(runs::report))
        .routes(routes!(runs::file))
        .routes(routes!(health))
        .split_for_parts();
    router
        .route("/openapi.json", get(|| async { Json(description) }))
        .fallback(|| async { Problem::nothing_there() })
        .method_not_allowed_fallback(|| async { Problem::no_such_method() })
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(TimeoutLayer::with_status_code(axum::http::StatusCode::REQUEST_TIMEOUT, TIMEOUT))
        .with_state(rigs)
}

/// Whether the daemon answers.
#[utoipa::path(get, path = "/healthz", responses((status = 200, description = "it does", body = String)))]
async fn health() -> &'static str {
    "ok\n"
}
