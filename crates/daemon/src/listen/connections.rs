//! Connections: accepted as long as there is room, and their requests answered.

use super::held::HeldBody;
use super::places::{ConnectionLimit, ConnectionPermit};
use super::socket::Socket;
use super::stalled::Stalled;
use super::tcp::Tcp;
use crate::log::DaemonLog;
use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tower::ServiceExt;
use vecud_host::Error;
use vecud_linux::rights::Rights;

/// Connections at a time to the socket, and as many over TCP.
pub const CONNECTIONS: usize = 256;
/// The longest time for the head of a request, and for a connection's wait for one.
const HEAD: Duration = Duration::from_secs(10);
/// The longest head of a request.
const LONGEST_HEAD: usize = 64 << 10;
/// The longest time in which the other side may take nothing of an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two messages about connections that cannot be accepted.
const QUIET: Duration = Duration::from_secs(60);
/// Time that answers under way get when the daemon ends.
const LAST: Duration = Duration::from_secs(2);

/// The address of this machine that a request has come to; requests over a unix socket have none.
#[derive(Clone, Copy, Debug)]
pub struct LocalAddress(pub IpAddr);

/// Answers requests until `end` is there: those to the socket by `api`, those over TCP by another one.
pub async fn serve(
    socket: &Socket,
    api: Router,
    tcp: Option<(Tcp, Router)>,
    log: &DaemonLog,
    end: impl Future<Output = ()>,
) -> Result<(), Error> {
    let system = |name: String| move |error: io::Error| Error::System(format!("{name}: {error}"));
    let name = socket.name();
    let unix = socket.listener().map_err(system(name.clone()))?;
    let (over_socket, over_tcp) = (ConnectionLimit::new(CONNECTIONS), ConnectionLimit::new(CONNECTIONS));
    // Nobody is answered of whom it is not known whose rights he has.
    let accept = async || {
        let (stream, _) = unix.accept().await?;
        let rights = Rights::of_peer(&stream)?;
        Ok((stream, rights))
    };
    let from_socket = accept_all(&name, accept, &api, &over_socket, log);
    let from_tcp = async {
        let Some((tcp, api)) = tcp else { return std::future::pending().await };
        let listener = tcp.listener().map_err(system(tcp.name()))?;
        let accept = async || {
            let (stream, _) = listener.accept().await?;
            // Answers are short, and whoever asks waits for them.
            stream.set_nodelay(true)?;
            let came_to = stream.local_addr()?.ip().to_canonical();
            Ok((stream, LocalAddress(came_to)))
        };
        log.say(&format!("listening on {}", tcp.name()));
        Ok(accept_all(&tcp.name(), accept, &api, &over_tcp, log).await)
    };
    tokio::select! {
        () = end => (),
        never = from_socket => match never {},
        failed = from_tcp => match failed {
            Err(error) => return Err(error),
            Ok(never) => match never {},
        },
    }
    let answered = async { tokio::join!(over_socket.all_free(CONNECTIONS), over_tcp.all_free(CONNECTIONS)) };
    let _in_vain = tokio::time::timeout(LAST, answered).await;
    Ok(())
}

/// Accepts connections for ever, and answers the requests of each in a task of its own.
/// The properties of each connection go with its requests.
async fn accept_all<S, K>(
    name: &str,
    accept: impl AsyncFn() -> io::Result<(S, K)>,
    api: &Router,
    places: &ConnectionLimit,
    log: &DaemonLog,
) -> Infallible
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    K: Clone + Send + Sync + 'static,
{
    let mut refused: Option<(Instant, u64)> = None;
    loop {
        match accept().await {
            Ok((stream, known)) => {
                let place = places.take().await;
                tokio::spawn(answer_all(stream, known, api.clone(), place));
            }
            Err(error) => {
                // No descriptor is left, or the other side is gone already.
                match &mut refused {
                    Some((told, untold)) if told.elapsed() < QUIET => *untold += 1,
                    before => {
                        let more = before.map_or(0, |(_, untold)| untold);
                        let more = if more > 0 {
                            format!(" (and {more} times since that was last said)")
                        } else {
                            String::new()
                        };
                        log.warn(&format!("{name}: {error}{more}"));
                        *before = Some((Instant::now(), 0));
                    }
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Answers the requests of a connection until its other side has no more, or somebody else wants its place.
async fn answer_all<S, K>(stream: S, known: K, api: Router, place: ConnectionPermit)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    K: Clone + Send + Sync + 'static,
{
    let answer = service_fn(|mut request: Request<Incoming>| {
        let (busy, api) = (place.busy(), api.clone());
        request.extensions_mut().insert(known.clone());
        request.extensions_mut().insert(place.peer());
        let request = request.map(|body| Body::new(place.awaited(body)));
        async move {
            let answer = api.oneshot(request).await?;
            Ok::<_, Infallible>(answer.map(|body| HeldBody::new(body, busy)))
        }
    });
    let peer = place.peer();
    let stream = Stalled::new(stream, PATIENCE, move |since| peer.note_stall(since));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(LONGEST_HEAD)
        .serve_connection(TokioIo::new(stream), answer);
    tokio::select! {
        // What goes wrong is the other side's, which has the answer or has gone.
        _ = connection => (),
        () = place.lost() => (),
    }
}
