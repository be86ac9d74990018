//! The routes of the API, and the limits of each request.

use super::access::{self, Access};
use super::guard::{self, RequestLimits, guarded};
use super::problem::{self, ProblemDetails};
use super::{events, health, metrics, query, rigs, runs, signals, ticks, variables, waits};
use crate::rigs::Rigs;
use axum::extract::DefaultBodyLimit;
use axum::http::HeaderValue;
use axum::http::header::X_CONTENT_TYPE_OPTIONS;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::routing::get;
use axum::{Extension, Json, Router};
use std::sync::Arc;
use std::time::Duration;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The limits of requests.
const LIMITS: RequestLimits = RequestLimits {
    max_body: 4 << 20,
    short: guard::SHORT_BODY,
    long_bodies: 32 << 20,
    long_answers: 32 << 20,
    body_timeout: Duration::from_secs(30),
    answer_timeout: Duration::from_secs(300),
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "vecud",
        description = "Rigs of virtual ECUs on this machine: what they are, how they run, what they have measured.",
        license(name = "MIT OR Apache-2.0")
    ),
    components(schemas(ProblemDetails))
)]
struct Description;

/// All routes of the API.
pub fn router(rigs: Arc<Rigs>) -> Router {
    let (router, mut description) = OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(rigs::list))
        .routes(routes!(rigs::show, rigs::put, rigs::delete))
        .routes(routes!(rigs::start))
        .routes(routes!(rigs::stop))
        .routes(routes!(rigs::pause))
        .routes(routes!(rigs::resume))
        .routes(routes!(rigs::reset))
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
        .routes(routes!(health::health))
        .routes(routes!(metrics::show))
        .split_for_parts();
    let queries = query::Queries::of(&description);
    problem::describe(&mut description);
    let requests = Arc::new(metrics::RequestCounters::default());
    let counted = requests.clone();
    let count = move |request, next: Next| {
        let counted = counted.clone();
        async move {
            let mut response = next.run(request).await;
            counted.count(response.status());
            // A browser must not guess another type of content.
            response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            response
        }
    };
    let router = router
        .route_layer(from_fn_with_state(queries, query::check))
        .route("/openapi.json", get(|| async { Json(description) }))
        .fallback(|| async { ProblemDetails::nothing_there() })
        .method_not_allowed_fallback(|| async { ProblemDetails::no_such_method() })
        // The guard has checked the length of bodies.
        .layer(DefaultBodyLimit::disable())
        .layer(Extension(requests));
    guarded(router, LIMITS).layer(from_fn(count)).with_state(rigs)
}

/// Adds the access checks for requests over TCP.
pub fn over_tcp(router: Router, access: Access) -> Router {
    router.layer(from_fn_with_state(Arc::new(access::TcpAccess::of(access)), access::check))
}
