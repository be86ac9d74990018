//! Access over TCP: requests need the token, a name of this machine as their host, and no origin in another site.
//!
//! A page in a browser of this machine can send requests here. It has no token; and where none is needed it cannot read
//! the answer, since no header allows that, unless its own name was made to resolve to an address of this machine: so
//! the name in `Host` is checked.
//!
//! A request without the token can only read, and has no body; the number of concurrent ones is limited so that places
//! are left for those with it.

use super::problem::ProblemDetails;
use crate::listen::{CONNECTIONS, HeldBody, LocalAddress, Peer};
use crate::token::Token;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Requirements on requests over TCP.
#[derive(Clone, Debug)]
pub struct Access {
    /// The token that a request must show.
    pub token: Token,
    /// Requests that change nothing (GET, HEAD) need no token.
    pub anonymous_read: bool,
    /// Names of this machine, beside `localhost` and addresses.
    pub names: Vec<String>,
}

/// A request without a token has this among its extensions.
#[derive(Clone, Copy, Debug)]
pub struct Unauthenticated;

/// Requests without a token that are answered at a time, of all [`CONNECTIONS`].
const STRANGERS: usize = CONNECTIONS / 2;

/// The way in for requests over TCP.
pub struct TcpAccess {
    access: Access,
    /// Room for requests without a token.
    strangers: Arc<Semaphore>,
}

impl TcpAccess {
    /// A way in that nobody has taken yet.
    pub fn of(access: Access) -> TcpAccess {
        TcpAccess { access, strangers: Arc::new(Semaphore::new(STRANGERS)) }
    }
}

/// Answers requests that are allowed, and refuses the rest.
pub async fn check(State(tcp): State<Arc<TcpAccess>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match tcp.access.refusal(&parts, body.is_end_stream()) {
        None if tcp.access.is_shown(&parts.headers) => {
            parts.extensions.get::<Peer>().inspect(|peer| peer.has_token());
            next.run(Request::from_parts(parts, body)).await
        }
        None => {
            let Ok(held) = tcp.strangers.clone().try_acquire_owned() else {
                return ProblemDetails::too_many(format!("{STRANGERS} requests without the token are being answered"))
                    .into_response();
            };
            parts.extensions.insert(Unauthenticated);
            next.run(Request::from_parts(parts, body)).await.map(|body| Body::new(HeldBody::new(body, held)))
        }
        Some(Refused { problem, challenge: None }) => problem.into_response(),
        Some(Refused { problem, challenge: Some(challenge) }) => {
            ([(header::WWW_AUTHENTICATE, challenge)], problem).into_response()
        }
    }
}

/// Why something is not answered.
struct Refused {
    problem: ProblemDetails,
    /// The way to show a token, if the refusal is about that.
    challenge: Option<&'static str>,
}

impl From<ProblemDetails> for Refused {
    fn from(problem: ProblemDetails) -> Refused {
        Refused { problem, challenge: None }
    }
}

/// The only value of a header; `Err`: there are several, or it is no text.
fn only(headers: &HeaderMap, name: header::HeaderName) -> Result<Option<&str>, ()> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().map(|value| value.to_str().map_err(drop)).transpose();
    if values.next().is_some() { Err(()) } else { first }
}

impl Access {
    fn refusal(&self, parts: &Parts, has_no_body: bool) -> Option<Refused> {
        let Parts { method, uri, headers, extensions, .. } = parts;
        let came_to = extensions.get::<LocalAddress>().map(|LocalAddress(address)| *address);
        let Ok(Some(host)) = only(headers, header::HOST) else { return Some(ProblemDetails::no_host().into()) };
        // A request to a proxy names the host twice.
        for named in [Some(host), uri.authority().map(Authority::as_str)].into_iter().flatten() {
            if !self.is_ours(named, came_to) {
                return Some(ProblemDetails::other_host(named).into());
            }
        }
        match only(headers, header::ORIGIN) {
            Ok(None) => (),
            Ok(Some(origin)) if is_page_of(origin, host) => (),
            _ => return Some(ProblemDetails::other_origin().into()),
        }
        let only_reads = [Method::GET, Method::HEAD].contains(method) && has_no_body;
        if only_reads && uri.path() == "/healthz" || self.is_shown(headers) {
            return None;
        }
        match only(headers, header::AUTHORIZATION) {
            Ok(None) if self.anonymous_read && only_reads => None,
            Ok(None) => {
                Some(Refused { problem: ProblemDetails::no_token(), challenge: Some("Bearer realm=\"vecud\"") })
            }
            _ => {
                let challenge = Some("Bearer realm=\"vecud\", error=\"invalid_token\"");
                Some(Refused { problem: ProblemDetails::wrong_token(), challenge })
            }
        }
    }

    /// Whether a request shows the token.
    fn is_shown(&self, headers: &HeaderMap) -> bool {
        let shown = only(headers, header::AUTHORIZATION).ok().flatten().and_then(bearer);
        shown.is_some_and(|shown| self.token.is(shown.as_bytes()))
    }

    /// Whether a name with or without a port is one of this machine, or the address that the request has come to.
    fn is_ours(&self, named: &str, came_to: Option<IpAddr>) -> bool {
        let Some(host) = named.parse::<Authority>().ok().filter(|_| !named.contains('@')) else { return false };
        let host = host.host();
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse::<IpAddr>();
        match address.map(|address| address.to_canonical()) {
            Ok(address) => address.is_loopback() || Some(address) == came_to,
            Err(_) => {
                let mut names = self.names.iter().map(String::as_str).chain(["localhost"]);
                names.any(|name| name.eq_ignore_ascii_case(host))
            }
        }
    }
}

/// Whether a page of this origin came from the host that it asks; a proxy in front may speak https.
fn is_page_of(origin: &str, host: &str) -> bool {
    let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    name.is_some_and(|name| name.eq_ignore_ascii_case(host))
}

/// The token in a header `Authorization`.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_and_the_address_that_was_called_are_ours_and_nothing_else() {
        let token = Token::new("0123456789abcdef").unwrap();
        let access = Access { token, anonymous_read: true, names: vec!["rig3.lab".to_owned()] };
        let came_to = Some("192.0.2.7".parse().unwrap());
        for ours in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1",
            "127.8.8.8:1",
            "[::1]",
            "[::1]:8080",
            "192.0.2.7:8080",
            "[::ffff:192.0.2.7]",
            "Rig3.lab:9",
        ] {
            assert!(access.is_ours(ours, came_to), "{ours}");
        }
        for other in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "192.0.2.8",
            "[::2]",
            "localhost@evil.example",
            "evil.example@localhost",
            "localhost/evil",
            "rig3.lab.",
            "0.0.0.0",
            "2130706433",
        ] {
            assert!(!access.is_ours(other, came_to), "{other}");
        }
        assert!(!access.is_ours("192.0.2.7", None));
    }

    #[test]
    fn only_a_page_of_the_same_host_is_ours() {
        assert!(is_page_of("http://localhost:8080", "localhost:8080"));
        assert!(is_page_of("https://Rig3.lab", "rig3.lab"));
        for other in
            ["null", "http://localhost", "http://localhost:8081", "localhost:8080", "file://localhost:8080", ""]
        {
            assert!(!is_page_of(other, "localhost:8080"), "{other}");
        }
    }

    #[test]
    fn a_token_is_shown_as_bearer() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        for none in ["abc", "Basic abc", "Bearerabc", ""] {
            assert_eq!(bearer(none), None, "{none}");
        }
    }
}
