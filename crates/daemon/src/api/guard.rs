//! Limits of every request: its body is read as a whole, in bounded time; the bodies of all requests together take bounded memory, and
//! so do long answers until their readers have taken them; an answer comes in time, and a panic costs one answer and no more.

use super::access::Unauthenticated;
use super::problem::ProblemDetails;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The longest body that needs no part of the common memory, and the longest body of a few fields, bytes.
pub const SHORT_BODY: usize = 64 << 10;

/// The limits of requests.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// The longest body, bytes.
    pub max_body: usize,
    /// A body or an answer up to this length takes no part of the common memory, bytes.
    pub short: usize,
    /// Memory of all longer bodies together, until their requests are answered, bytes.
    pub long_bodies: usize,
    /// Memory of all longer answers together, until their readers have taken them, bytes; answers to requests without the token have as
    /// much of their own.
    pub long_answers: usize,
    /// Time until a body has arrived.
    pub body_timeout: Duration,
    /// Time until a request is answered.
    pub answer_timeout: Duration,
}

/// The daemon reads and discards a body that is too long up to this many times the longest one: a client that still sends might not
/// look for the answer.
const DISCARDED: usize = 8;

/// The routes with the limits of their requests.
pub fn guarded<S: Clone + Send + Sync + 'static>(routes: Router<S>, limits: RequestLimits) -> Router<S> {
    let room = Arc::new(Semaphore::new(limits.long_bodies));
    let [answers, unauthenticated] = [(); 2].map(|()| Arc::new(Semaphore::new(limits.long_answers)));
    routes.layer(from_fn(move |request: Request, next| {
        let is_unauthenticated = request.extensions().get::<Unauthenticated>().is_some();
        let answers = if is_unauthenticated { &unauthenticated } else { &answers }.clone();
        let room = room.clone();
        async move { reserve_answer(limits, answers, answer(limits, room, request, next).await).await }
    }))
}

/// Reserves memory for a long answer of known length until its reader has taken it; an answer without memory is a problem.
async fn reserve_answer(limits: RequestLimits, room: Arc<Semaphore>, answer: Response) -> Response {
    let Some(length) = answer.body().size_hint().exact().filter(|length| *length > limits.short as u64) else {
        return answer;
    };
    // An answer that is longer than the whole memory takes all of it.
    let length = u32::try_from(length.min(limits.long_answers as u64)).unwrap_or(u32::MAX);
    let Ok(room) = room.try_acquire_many_owned(length) else {
        let detail = "readers of long answers have not taken them yet: try again later";
        return ProblemDetails::too_many(detail).into_response();
    };
    let (parts, body) = answer.into_parts();
    match to_bytes(body, usize::MAX).await {
        Ok(bytes) => Response::from_parts(parts, Bytes::from_owner(LongAnswer { bytes, _room: room }).into()),
        Err(error) => ProblemDetails::internal(error.to_string()).into_response(),
    }
}

/// An answer, and its part of the memory of long answers.
struct LongAnswer {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for LongAnswer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

async fn answer(limits: RequestLimits, room: Arc<Semaphore>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let (body, _until_it_is_answered) = match tokio::time::timeout(limits.body_timeout, read(body, limits, room)).await
    {
        Ok(Ok(Read::Whole(body, room))) => (body, room),
        Ok(Ok(Read::TooLong)) => return ProblemDetails::too_long(limits.max_body).into_response(),
        Ok(Ok(Read::NoRoom)) => return ProblemDetails::no_room(limits.long_bodies).into_response(),
        Ok(Err(error)) => return ProblemDetails::malformed(StatusCode::BAD_REQUEST, error.to_string()).into_response(),
        Err(_) => return ProblemDetails::slow_body(limits.body_timeout).into_response(),
    };
    let request = Request::from_parts(parts, Body::from(body));
    match tokio::time::timeout(limits.answer_timeout, caught(next.run(request))).await {
        Ok(answer) => as_problem(answer),
        Err(_) => ProblemDetails::takes_too_long(limits.answer_timeout).into_response(),
    }
}

/// The outcome of reading a body.
enum Read {
    /// The whole body, and its part of the memory of long bodies.
    Whole(Bytes, Option<OwnedSemaphorePermit>),
    /// The body is longer than bodies may be.
    TooLong,
    /// Other long bodies take the memory.
    NoRoom,
}

/// Reads a body.
async fn read(mut body: Body, limits: RequestLimits, room: Arc<Semaphore>) -> Result<Read, BoxError> {
    let (mut whole, mut taken, mut length, mut fits) = (Vec::new(), None, 0, true);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame?.into_data() else { continue };
        length += data.len();
        fits = fits && length <= limits.max_body && (length <= limits.short || reserve_body(&room, &mut taken, length));
        if fits {
            whole.extend_from_slice(&data);
        } else if length > limits.max_body * DISCARDED {
            break;
        } else {
            (whole, taken) = (Vec::new(), None);
        }
    }
    Ok(match length > limits.max_body {
        true => Read::TooLong,
        false if fits => Read::Whole(whole.into(), taken),
        false => Read::NoRoom,
    })
}

/// Extends the reservation of a body to `length`; `false`: there is too little memory.
fn reserve_body(room: &Arc<Semaphore>, taken: &mut Option<OwnedSemaphorePermit>, length: usize) -> bool {
    let more = length - taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
    let Some(more) = u32::try_from(more).ok().and_then(|more| room.clone().try_acquire_many_owned(more).ok()) else {
        return false;
    };
    match taken {
        Some(taken) => taken.merge(more),
        None => *taken = Some(more),
    }
    true
}

/// The answer; a panic becomes an answer, too.
async fn caught(answer: impl Future<Output = Response>) -> Response {
    let mut answer = std::pin::pin!(answer);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
        polled.unwrap_or_else(|_| {
            let detail = "vecud has a mistake: what it said of that (\"panicked at\") is in its log";
            Poll::Ready(ProblemDetails::internal(detail).into_response())
        })
    })
    .await
}

/// The answer; an error of any layer becomes a problem.
fn as_problem(answer: Response) -> Response {
    let status = answer.status();
    let is_problem = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/problem+json");
    if is_problem || !(status.is_client_error() || status.is_server_error()) {
        return answer;
    }
    let (mut parts, _) = answer.into_parts();
    // These describe the replaced body.
    [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING].into_iter().for_each(|name| drop(parts.headers.remove(name)));
    let mut problem = ProblemDetails::of_status(status).into_response();
    for (name, value) in &parts.headers {
        problem.headers_mut().append(name, value.clone());
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::routing::post;
    use tower::ServiceExt;

    /// Status, kind and body of what is answered.
    async fn ask(path: &str, body: Body) -> (u16, String, String) {
        let second = Duration::from_secs(1);
        let limits = RequestLimits {
            max_body: 10,
            short: 5,
            long_bodies: 9,
            long_answers: 9,
            body_timeout: second / 4,
            answer_timeout: second / 4,
        };
        let panics = || async {
            if std::hint::black_box(true) {
                panic!("a test of what becomes of it");
            }
        };
        let sleeps = || tokio::time::sleep(Duration::from_secs(60));
        let routes = Router::new()
            .route("/panics", post(panics))
            .route("/sleeps", post(sleeps))
            .route("/fails", post(|| async { (StatusCode::RANGE_NOT_SATISFIABLE, [("content-range", "bytes */5")]) }))
            .route("/echoes", post(|body: Bytes| async { body }));
        let request = Request::post(path).body(body).unwrap();
        let answer = guarded(routes, limits).oneshot(request).await.unwrap();
        let kind = answer.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        (status, kind.unwrap_or_default(), String::from_utf8(body.to_vec()).unwrap())
    }

    /// A body of which nothing comes.
    struct Silent;

    impl HttpBody for Silent {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut std::task::Context,
        ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, BoxError>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn long_answers_have_so_much_room_together_until_they_are_taken() {
        let second = Duration::from_secs(1);
        let limits = RequestLimits {
            max_body: 99,
            short: 5,
            long_bodies: 99,
            long_answers: 15,
            body_timeout: second,
            answer_timeout: second,
        };
        let routes = guarded(Router::new().route("/echoes", post(|body: Bytes| async { body })), limits);
        let ask = async |length: usize, is_unauthenticated: bool| {
            let mut request = Request::post("/echoes").body(Body::from("x".repeat(length))).unwrap();
            if is_unauthenticated {
                request.extensions_mut().insert(Unauthenticated);
            }
            routes.clone().oneshot(request).await.unwrap()
        };
        let first = ask(10, false).await;
        let refused = ask(6, false).await;
        assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (503, &"1".parse().unwrap()));
        assert_eq!((ask(5, false).await.status(), ask(15, true).await.status()), (StatusCode::OK, StatusCode::OK));
        // The room is that of the bytes, wherever they wait to be sent.
        let bytes = to_bytes(first.into_body(), 1 << 20).await.unwrap();
        assert_eq!(ask(6, false).await.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(bytes);
        assert_eq!(ask(60, false).await.status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn what_goes_wrong_on_the_way_to_an_answer_is_a_problem() {
        for (path, body, status, words) in [
            ("/fails", Body::empty(), 416, "Range Not Satisfiable"),
            ("/panics", Body::empty(), 500, "in its log"),
            ("/sleeps", Body::empty(), 408, "longer than"),
            ("/echoes", Body::from("x".repeat(10)), 503, "9 bytes"),
            ("/echoes", Body::from("x".repeat(11)), 413, "10 bytes"),
            ("/echoes", Body::from("x".repeat(1000)), 413, "10 bytes"),
            ("/echoes", Body::new(Silent), 408, "body"),
        ] {
            let (found, kind, body) = ask(path, body).await;
            assert_eq!((found, kind.as_str()), (status, "application/problem+json"), "{path}: {body}");
            assert!(body.contains(words), "{path}: {body}");
        }
        assert_eq!(
            ask("/echoes", Body::from("x".repeat(9))).await,
            (200, "application/octet-stream".to_owned(), "x".repeat(9))
        );
    }
}
