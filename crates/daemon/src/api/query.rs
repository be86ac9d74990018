//! A request that changes something and has no query of its own is refused with one: a client that writes `start?mode=virtual`
//! expects an effect that it would not have.

use super::problem::ProblemDetails;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::collections::BTreeSet;
use std::sync::Arc;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::{OpenApi, RefOr};

/// Paths and methods of the requests that change something and have a query.
#[derive(Clone, Debug)]
pub struct Queries(Arc<BTreeSet<(String, Method)>>);

impl Queries {
    /// The requests with a query in the description of an API.
    pub fn of(description: &OpenApi) -> Queries {
        let has_query = |operation: &Option<Operation>| {
            let mut parameters = operation.iter().flat_map(|operation| operation.parameters.iter().flatten());
            parameters.any(|own| matches!(own, RefOr::T(own) if own.parameter_in == ParameterIn::Query))
        };
        let all = description.paths.paths.iter().flat_map(|(path, item)| {
            let operations = [
                (Method::PUT, &item.put),
                (Method::POST, &item.post),
                (Method::PATCH, &item.patch),
                (Method::DELETE, &item.delete),
            ];
            operations.into_iter().filter(|(_, own)| has_query(own)).map(|(method, _)| (path.clone(), method))
        });
        Queries(Arc::new(all.collect()))
    }

    fn knows(&self, path: &str, method: &Method) -> bool {
        self.0.iter().any(|(own, by)| own == path && by == method)
    }
}

/// Refuses a request whose query nobody would read.
pub async fn check(State(queries): State<Queries>, path: MatchedPath, request: Request, next: Next) -> Response {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let has_query = request.uri().query().is_some_and(|query| !query.is_empty());
    if changes && has_query && !queries.knows(path.as_str(), request.method()) {
        let detail = "this request has no query; what it is told stands in its body, as /openapi.json says";
        return ProblemDetails::malformed(StatusCode::BAD_REQUEST, detail).into_response();
    }
    next.run(request).await
}
