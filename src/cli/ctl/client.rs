//! Requests of `vecud ctl` to a daemon, over its socket or over TCP, and the answers.

use super::failure::{Answered, CtlFailure};
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, Method, Request, Response, Uri, header};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::Runtime;
use tokio::time::timeout;
use vecud_base::plain::plain;
use vecud_daemon::Token;
use vecud_host::Error;
use vecud_plan::rig::{Diagnostic, Place, RigError};

/// How long a daemon may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// How long an answer may take: a daemon gives up before that.
const ANSWER: Duration = Duration::from_secs(330);

/// Where a daemon listens.
#[derive(Clone, Debug)]
pub enum DaemonAddress {
    /// Its unix socket.
    Socket(PathBuf),
    /// Host and port, as they stand in a URL.
    Tcp { host: String, port: u16 },
}

impl DaemonAddress {
    /// What a URL names: nothing else than a host and a port.
    pub fn url(url: &str) -> Result<DaemonAddress, Error> {
        let wrong = |why: &str| Error::Command(format!("{url}: {why}; write --url http://127.0.0.1:PORT"));
        let uri: Uri = url.parse().map_err(|error| wrong(&format!("this is no URL: {error}")))?;
        match uri.scheme_str() {
            Some("http") => (),
            Some("https") => return Err(wrong("there is no TLS; come through an ssh tunnel")),
            _ => return Err(wrong("this is no URL of a daemon")),
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(wrong("a daemon has no path"));
        }
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        let host = authority.map(|authority| authority.host()).filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| wrong("there is no host in it, or more than that"))?.to_owned();
        Ok(DaemonAddress::Tcp { host, port: uri.port_u16().unwrap_or(80) })
    }

    /// The value of the header `Host`.
    fn host(&self) -> String {
        match self {
            DaemonAddress::Socket(_) => "localhost".to_owned(),
            DaemonAddress::Tcp { host, port } => format!("{host}:{port}"),
        }
    }
}

impl fmt::Display for DaemonAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DaemonAddress::Socket(path) => write!(f, "{}", path.display()),
            DaemonAddress::Tcp { .. } => write!(f, "http://{}", self.host()),
        }
    }
}

/// Sends requests to a daemon.
pub struct Client {
    pub to: DaemonAddress,
    token: Option<HeaderValue>,
    runtime: Runtime,
}

/// An answer of which the body has not been read yet.
pub struct Unread {
    status: u16,
    /// The answer is a part of a list, and names the request for the next one.
    pub has_more: bool,
    body: Body,
}

/// A problem as a daemon tells it (RFC 9457).
#[derive(Deserialize)]
struct Told {
    detail: String,
    #[serde(default)]
    mistakes: Vec<Mistake>,
}

#[derive(Deserialize)]
struct Mistake {
    file: Option<PathBuf>,
    line: Option<u32>,
    column: Option<u32>,
    message: String,
}

impl Client {
    /// Makes a client of the daemon at `to`, with this token over TCP.
    pub fn new(to: DaemonAddress, token: Option<&Token>) -> Result<Client, Error> {
        let token = token.map(|token| {
            let mut value = HeaderValue::try_from(token.authorization()).expect("its characters are those of headers");
            value.set_sensitive(true);
            value
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|error| Error::System(format!("no connections can be made: {error}")))?;
        Ok(Client { to, token, runtime })
    }

    /// Sends a request without a body, and reads the whole answer.
    pub fn ask(&self, method: Method, path: &str) -> Result<Vec<u8>, CtlFailure> {
        self.send(method, path, "application/json", Vec::new())
    }

    /// Sends a request with a JSON body, and reads the whole answer.
    pub fn tell(&self, method: Method, path: &str, value: &Value) -> Result<Vec<u8>, CtlFailure> {
        self.send(method, path, "application/json", value.to_string().into_bytes())
    }

    /// Sends a request with a body of this content type, and reads the whole answer.
    pub fn send(&self, method: Method, path: &str, kind: &'static str, body: Vec<u8>) -> Result<Vec<u8>, CtlFailure> {
        let unread = self.begin(method, path, kind, body)?;
        self.whole(unread)
    }

    /// Sends a request whose answer is read piece by piece.
    pub fn open(&self, path: &str) -> Result<Unread, CtlFailure> {
        self.begin(Method::GET, path, "application/json", Vec::new())
    }

    /// The next piece of an answer; `None`: that was all.
    pub fn next(&self, unread: &mut Unread) -> Result<Option<Bytes>, CtlFailure> {
        self.runtime.block_on(async {
            loop {
                match poll_fn(|context| Pin::new(&mut unread.body).poll_frame(context)).await {
                    None => return Ok(None),
                    Some(Err(error)) => return Err(self.broken(&error)),
                    Some(Ok(frame)) => {
                        if let Ok(data) = frame.into_data() {
                            return Ok(Some(data));
                        }
                    }
                }
            }
        })
    }

    /// The rest of an answer.
    pub fn whole(&self, mut unread: Unread) -> Result<Vec<u8>, CtlFailure> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next(&mut unread)? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }

    /// The answer, if it is none of a problem.
    fn begin(&self, method: Method, path: &str, kind: &'static str, body: Vec<u8>) -> Result<Unread, CtlFailure> {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, self.to.host());
        request = request.header(header::CONTENT_TYPE, kind);
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, token);
        }
        let request = request.body(Body::from(body)).expect("paths are escaped");
        let response = self.runtime.block_on(async {
            let mut connection = self.connect().await?;
            match timeout(ANSWER, connection.send_request(request)).await {
                Ok(response) => response.map_err(|error| self.broken(&error)),
                Err(_) => Err(CtlFailure::Failed(format!("{}: no answer within {} s", self.to, ANSWER.as_secs()))),
            }
        });
        let response: Response<_> = response?;
        let has_more = response.headers().contains_key(header::LINK);
        let unread = Unread { status: response.status().as_u16(), has_more, body: Body::new(response.into_body()) };
        if unread.status < 300 {
            return Ok(unread);
        }
        let status = unread.status;
        let body = self.whole(unread)?;
        Err(self.refused(status, body))
    }

    async fn connect(&self) -> Result<SendRequest<Body>, CtlFailure> {
        let connected = async {
            match &self.to {
                DaemonAddress::Socket(path) => Ok(over(UnixStream::connect(path).await?).await),
                DaemonAddress::Tcp { host, port } => {
                    let host = host.trim_start_matches('[').trim_end_matches(']');
                    Ok(over(TcpStream::connect((host, *port)).await?).await)
                }
            }
        };
        let connected: Result<_, std::io::Error> = match timeout(CONNECT, connected).await {
            Ok(connected) => connected,
            Err(_) => Err(std::io::ErrorKind::TimedOut.into()),
        };
        match connected {
            Ok(connection) => connection.map_err(|error| self.broken(&error)),
            Err(error) => Err(CtlFailure::Failed(format!(
                "{}: no daemon can be reached there: {error}; start one (vecud daemon), or say where one is with --socket PATH or \
                 --url URL",
                self.to
            ))),
        }
    }

    fn broken(&self, error: &dyn fmt::Display) -> CtlFailure {
        CtlFailure::Failed(format!("{}: the connection has ended before the answer: {error}", self.to))
    }

    /// What the daemon says of what it does not do.
    fn refused(&self, status: u16, body: Vec<u8>) -> CtlFailure {
        let Ok(told) = serde_json::from_slice::<Told>(&body) else {
            let text = String::from_utf8_lossy(&body);
            let line = plain(text.lines().next().unwrap_or_default());
            return CtlFailure::Failed(format!("{}: the answer is {status} {line}: is this a vecud daemon?", self.to));
        };
        let error = match status {
            401 if self.token.is_none() => {
                Error::Command("the daemon wants a token; name its file with --token-file F".to_owned())
            }
            _ => told.error(),
        };
        CtlFailure::Answered(Box::new(Answered { status, body, error }))
    }
}

impl Told {
    /// Converts the problem into an error of a subcommand, with its places, if it has them.
    fn error(self) -> Error {
        let problem = |mistake: &Mistake| {
            let place = Place { line: mistake.line.unwrap_or(0), column: mistake.column.unwrap_or(0) };
            Some(Diagnostic::new(mistake.file.as_deref()?, place, &mistake.message))
        };
        let problems: Vec<Diagnostic> = self.mistakes.iter().filter_map(problem).collect();
        match problems.len() == self.mistakes.len() && !problems.is_empty() {
            true => Error::Rig(RigError { problems }),
            false if self.mistakes.len() < 2 => Error::Command(self.detail),
            false => {
                let lines: Vec<String> = self.mistakes.into_iter().map(|mistake| mistake.message).collect();
                Error::Command(lines.join("\n"))
            }
        }
    }
}

/// HTTP on a stream.
async fn over<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(stream: S) -> hyper::Result<SendRequest<Body>> {
    let (requests, connection) = handshake(TokioIo::new(stream)).await?;
    // What goes wrong is told to whoever waits for the answer.
    tokio::spawn(async move { drop(connection.await) });
    Ok(requests)
}

/// A part of a path, or of a query, in which nothing has a meaning.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// The name of a file in an answer, as far as it leads nowhere else.
pub fn file_name(name: &str) -> Option<&Path> {
    let mut parts = Path::new(name).components();
    let only = matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(own)), None) if own == name);
    only.then(|| Path::new(name))
}

/// What an answer says.
pub fn read<T: DeserializeOwned>(answer: &[u8]) -> Result<T, CtlFailure> {
    serde_json::from_slice(answer).map_err(|error| {
        CtlFailure::Failed(format!(
            "the answer cannot be read: {error}; is the daemon of another version? --json prints it"
        ))
    })
}

/// These globs as a query.
pub fn matching(globs: &[String]) -> String {
    let parts: Vec<String> = globs.iter().map(|glob| format!("match={}", escaped(glob))).collect();
    if parts.is_empty() { String::new() } else { format!("?{}", parts.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_host_and_a_port() {
        for (url, shown) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://[::1]:8080/", "http://[::1]:8080"),
            ("http://rig3.lab", "http://rig3.lab:80"),
        ] {
            assert_eq!(DaemonAddress::url(url).unwrap().to_string(), shown);
        }
        for (wrong, words) in [
            ("https://localhost:1", "TLS"),
            ("localhost:8080", "no URL of a daemon"),
            ("http://localhost/v1", "no path"),
            ("http://localhost?x", "no path"),
            ("http://user:secret@localhost", "more than that"),
            ("http://", "URL"),
            ("", "URL"),
        ] {
            let error = DaemonAddress::url(wrong).unwrap_err().to_string();
            assert!(error.contains(words), "{wrong}: {error}");
        }
    }

    #[test]
    fn what_stands_in_a_path_has_no_meaning_there() {
        assert_eq!(escaped("ecu.a[1]/../?x=ä &%"), "ecu.a%5B1%5D%2F..%2F%3Fx%3D%C3%A4%20%26%25");
        for name in ["..", "a/b", "/a", ".", "", "a/", "./a"] {
            assert_eq!(file_name(name), None, "{name}");
        }
        assert_eq!(file_name("report.json"), Some(Path::new("report.json")));
    }

    #[test]
    fn globs_are_a_query() {
        assert_eq!(matching(&[]), "");
        assert_eq!(matching(&["ecu.*".to_owned(), "a&b".to_owned()]), "?match=ecu.%2A&match=a%26b");
    }
}
