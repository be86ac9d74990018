//! Errors as answers, in the form of RFC 9457.

use crate::condition::ConditionError;
use crate::rigs::RequestError;
use crate::status::Mistake;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Content, OpenApi, Ref, RefOr, Response as OneResponse};

/// Why a request is not answered as it wants.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDetails {
    /// What kind of problem it is.
    r#type: &'static str,
    /// That kind, for people.
    title: &'static str,
    /// The status of the answer.
    status: u16,
    /// The error in this case, and its remedy.
    detail: String,
    /// Each mistake of an invalid rig or condition, with its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<Mistake>,
}

impl ProblemDetails {
    fn new(status: StatusCode, r#type: &'static str, title: &'static str, detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails { r#type, title, status: status.as_u16(), detail: detail.into(), mistakes: Vec::new() }
    }

    /// A status without words of its own.
    pub fn of_status(status: StatusCode) -> ProblemDetails {
        let reason = status.canonical_reason().unwrap_or("no answer");
        ProblemDetails::new(status, "about:blank", reason, reason)
    }

    /// There is no such path.
    pub fn nothing_there() -> ProblemDetails {
        let detail = "there is nothing at this path; /openapi.json says what there is";
        ProblemDetails::new(StatusCode::NOT_FOUND, "/problems/unknown-path", "unknown path", detail)
    }

    /// The path has no such method.
    pub fn no_such_method() -> ProblemDetails {
        let detail = "this path has other methods; /openapi.json says which";
        ProblemDetails::new(StatusCode::METHOD_NOT_ALLOWED, "/problems/method", "method not allowed", detail)
    }

    /// The request cannot be parsed.
    pub fn malformed(status: StatusCode, detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(status, "/problems/malformed-request", "malformed request", detail)
    }

    /// The name is unknown.
    pub fn unknown(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::NOT_FOUND, "/problems/unknown-name", "unknown name", detail)
    }

    /// The request cannot be executed in the present state.
    pub fn conflict(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::CONFLICT, "/problems/state", "not in this state", detail)
    }

    /// The body is longer than the limit, in bytes.
    pub fn too_long(longest: usize) -> ProblemDetails {
        let detail = format!("the body has more than {longest} bytes, which are the most that is read");
        ProblemDetails::new(StatusCode::PAYLOAD_TOO_LARGE, "/problems/too-long", "body too long", detail)
    }

    /// The body has not come in time.
    pub fn slow_body(within: Duration) -> ProblemDetails {
        let detail = format!("the body has not come within {} s", within.as_secs_f64());
        ProblemDetails::new(StatusCode::REQUEST_TIMEOUT, "/problems/slow-request", "slow request", detail)
    }

    /// The request is not done in time. It may be done later.
    pub fn takes_too_long(than: Duration) -> ProblemDetails {
        let detail =
            format!("it takes longer than {} s, and goes on; the rig's status says how far it is", than.as_secs_f64());
        ProblemDetails::new(StatusCode::REQUEST_TIMEOUT, "/problems/takes-too-long", "takes too long", detail)
    }

    /// The request does not say which host it is for.
    pub fn no_host() -> ProblemDetails {
        ProblemDetails::malformed(
            StatusCode::BAD_REQUEST,
            "one header Host is needed, which names the host that is asked",
        )
    }

    /// The request is for a host that is none of the daemon's.
    pub fn other_host(host: &str) -> ProblemDetails {
        let detail =
            format!("{host} is no name of this daemon: ask localhost, its address, or a name given with --host");
        ProblemDetails::new(StatusCode::MISDIRECTED_REQUEST, "/problems/other-host", "other host", detail)
    }

    /// A page of another site asks.
    pub fn other_origin() -> ProblemDetails {
        let detail = "pages of other sites may ask nothing (header Origin)";
        ProblemDetails::new(StatusCode::FORBIDDEN, "/problems/other-origin", "other origin", detail)
    }

    /// The request needs a token.
    pub fn no_token() -> ProblemDetails {
        let detail = "this needs the token of the daemon's --token-file, as header Authorization: Bearer TOKEN";
        ProblemDetails::new(StatusCode::UNAUTHORIZED, "/problems/token", "token needed", detail)
    }

    /// The token in the request is wrong.
    pub fn wrong_token() -> ProblemDetails {
        let detail = "the header Authorization does not have the token of the daemon's --token-file";
        ProblemDetails::new(StatusCode::UNAUTHORIZED, "/problems/token", "wrong token", detail)
    }

    /// The request can be parsed, but is impossible.
    pub fn impossible(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::UNPROCESSABLE_ENTITY, "/problems/invalid-request", "invalid request", detail)
    }

    /// The request was not executed in time.
    pub fn too_late(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::REQUEST_TIMEOUT, "/problems/timeout", "not in time", detail)
    }

    /// Too many requests of this kind are in progress.
    pub fn too_many(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::SERVICE_UNAVAILABLE, "/problems/too-many", "too many at a time", detail)
    }

    /// The body finds no room beside those of others.
    pub fn no_room(together: usize) -> ProblemDetails {
        let detail = format!("long bodies have {together} bytes together, which others have: try again later");
        ProblemDetails::too_many(detail)
    }

    /// A part of the daemon is gone.
    pub fn internal(detail: impl Into<String>) -> ProblemDetails {
        ProblemDetails::new(StatusCode::INTERNAL_SERVER_ERROR, "/problems/internal", "internal error", detail)
    }
}

/// Answers over TCP alone.
const OVER_TCP: [(&str, &str); 3] = [
    ("401", "over TCP: the token is missing or another one"),
    ("403", "over TCP: a page of another site asks"),
    ("421", "over TCP: the request is for another host"),
];

/// Describes each answer from 400 on as a problem; and where it has no description of its own, explains the status.
/// Adds what is asked for over TCP, and how that is answered.
pub fn describe(description: &mut OpenApi) {
    let components = description.components.get_or_insert_default();
    components.add_security_scheme("token", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
    // None is needed over the unix socket.
    let token = SecurityRequirement::new("token", [""; 0]);
    description.security = Some(vec![token, SecurityRequirement::default()]);
    let operations = description.paths.paths.values_mut().flat_map(|path| {
        [&mut path.get, &mut path.put, &mut path.post, &mut path.delete, &mut path.patch].into_iter().flatten()
    });
    let responses = operations.flat_map(|operation| {
        let all = &mut operation.responses.responses;
        all.entry("400".to_owned()).or_insert_with(|| RefOr::T(OneResponse::new("")));
        all.entry("503".to_owned()).or_insert_with(|| RefOr::T(OneResponse::new("too much is asked for at a time")));
        for (status, meaning) in OVER_TCP {
            all.insert(status.to_owned(), RefOr::T(OneResponse::new(meaning)));
        }
        all
    });
    for (status, response) in responses {
        let RefOr::T(response) = response else { continue };
        let meaning = match status.as_str() {
            "400" => "it cannot be read",
            "404" => "what a name stands for is not there",
            "413" => "the body is too long",
            "500" => "a part of the daemon is gone, or a file cannot be read",
            "503" => "the system refuses it",
            "507" => "there is no room for what is wanted, in the state folder or in the daemon, and it is not done",
            status if status >= "400" => "",
            _ => continue,
        };
        if response.description.is_empty() {
            response.description = meaning.to_owned();
        }
        let problem = Content::new(Some(Ref::from_schema_name("Problem")));
        response.content.insert("application/problem+json".to_owned(), RefOr::T(problem));
    }
}

impl From<ConditionError> for ProblemDetails {
    fn from(error: ConditionError) -> ProblemDetails {
        let column = u32::try_from(error.column).ok();
        let mistake = Mistake { file: None, line: None, column, message: error.message.clone() };
        let (kind, title) = ("/problems/invalid-condition", "invalid condition");
        let problem = ProblemDetails::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, error.to_string());
        ProblemDetails { mistakes: vec![mistake], ..problem }
    }
}

impl From<RequestError> for ProblemDetails {
    fn from(refusal: RequestError) -> ProblemDetails {
        let detail = refusal.to_string();
        match refusal {
            RequestError::Unknown(_) => ProblemDetails::unknown(detail),
            RequestError::State(..) => ProblemDetails::conflict(detail),
            RequestError::Invalid(mistakes) => {
                let (kind, title) = ("/problems/invalid-rig", "invalid rig");
                ProblemDetails {
                    mistakes,
                    ..ProblemDetails::new(StatusCode::UNPROCESSABLE_ENTITY, kind, title, detail)
                }
            }
            RequestError::NotKept(_) => {
                ProblemDetails::new(StatusCode::INSUFFICIENT_STORAGE, "/problems/storage", "not written", detail)
            }
            RequestError::Full(_) => {
                ProblemDetails::new(StatusCode::INSUFFICIENT_STORAGE, "/problems/storage", "no room", detail)
            }
            RequestError::System(_) => ProblemDetails::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "/problems/system",
                "refused by the system",
                detail,
            ),
        }
    }
}

impl IntoResponse for ProblemDetails {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let text = serde_json::to_string(&self).expect("strings and numbers");
        let mut response = (status, [(header::CONTENT_TYPE, "application/problem+json")], text).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
