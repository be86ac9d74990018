//! What holds for every request: its body is read as a whole in bounded time, and bounded memory for all of them together; it is answered
//! in time, and an error in our own code costs the answer and no more.

use super::problem::ProblemDetails;
use axum::body::{Body, Bytes, HttpBody};
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

/// The bounds of requests.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// The longest body.
    pub longest: usize,
    /// What each body has room for.
    pub short: usize,
    /// What all that are longer have room for together, until they are answered.
    pub together: usize,
    /// How long a body may take.
    pub body: Duration,
    /// How long an answer may take.
    pub answer: Duration,
}

/// A body that is too long is read up to so many times the longest one, and thrown away: whoever has not sent all of it yet might
/// not look for the answer.
const THROWN_AWAY: usize = 8;

/// The routes, each request to which keeps within bounds.
pub fn guarded<S: Clone + Send + Sync + 'static>(routes: Router<S>, bounds: RequestLimits) -> Router<S> {
    let room = Arc::new(Semaphore::new(bounds.together));
    routes.layer(from_fn(move |request, next| answer(bounds, room.clone(), request, next)))
}

async fn answer(bounds: RequestLimits, room: Arc<Semaphore>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let (body, _until_it_is_answered) = match tokio::time::timeout(bounds.body, read(body, bounds, room)).await {
        Ok(Ok(Read::Whole(body, room))) => (body, room),
        Ok(Ok(Read::TooLong)) => return ProblemDetails::too_long(bounds.longest).into_response(),
        Ok(Ok(Read::NoRoom)) => return ProblemDetails::no_room(bounds.together).into_response(),
        Ok(Err(error)) => return ProblemDetails::malformed(StatusCode::BAD_REQUEST, error.to_string()).into_response(),
        Err(_) => return ProblemDetails::slow_body(bounds.body).into_response(),
    };
    let request = Request::from_parts(parts, Body::from(body));
    match tokio::time::timeout(bounds.answer, caught(next.run(request))).await {
        Ok(answer) => as_problem(answer),
        Err(_) => ProblemDetails::takes_too_long(bounds.answer).into_response(),
    }
}

/// The outcome of reading a body.
enum Read {
    /// All of it, and the room that it takes.
    Whole(Bytes, Option<OwnedSemaphorePermit>),
    /// The body is longer than bodies may be.
    TooLong,
    /// Long bodies have all the room that there is for them.
    NoRoom,
}

/// Reads a body.
async fn read(mut body: Body, bounds: RequestLimits, room: Arc<Semaphore>) -> Result<Read, BoxError> {
    let (mut whole, mut taken, mut length, mut fits) = (Vec::new(), None, 0, true);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame?.into_data() else { continue };
        length += data.len();
        fits = fits && length <= bounds.longest && (length <= bounds.short || take(&room, &mut taken, length));
        if fits {
            whole.extend_from_slice(&data);
        } else if length > bounds.longest * THROWN_AWAY {
            break;
        } else {
            (whole, taken) = (Vec::new(), None);
        }
    }
    Ok(match length > bounds.longest {
        true => Read::TooLong,
        false if fits => Read::Whole(whole.into(), taken),
        false => Read::NoRoom,
    })
}

/// Takes as much room as `length`, with what is taken already; `false`: there is not so much.
fn take(room: &Arc<Semaphore>, taken: &mut Option<OwnedSemaphorePermit>, length: usize) -> bool {
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

/// The answer; a panic is one, too.
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

/// The answer; where it says that something is wrong, as a problem, whoever has found that.
fn as_problem(answer: Response) -> Response {
    let status = answer.status();
    let is_problem = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/problem+json");
    if is_problem || !(status.is_client_error() || status.is_server_error()) {
        return answer;
    }
    let (mut parts, _) = answer.into_parts();
    // What describes the body that it had.
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
        let bounds = RequestLimits { longest: 10, short: 5, together: 9, body: second / 4, answer: second / 4 };
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
        let answer = guarded(routes, bounds).oneshot(request).await.unwrap();
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
