//! A connection whose other side may not stand still while it is sent something, nor take it byte by byte for ever.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// The least rate at which the other side takes an answer, bytes per second.
const SLOWEST: f64 = 16.0 * 1024.0;

/// A connection that ends when the other side has been waited for longer than this. What it takes meanwhile gives it back as much of that
/// as the slowest reader would need for it.
pub struct Stalled<S, T> {
    stream: S,
    patience: Duration,
    /// The rest of the patience.
    left: Duration,
    /// Is told since when the other side takes nothing; `None`: it does again.
    on_stall: T,
    /// The begin of the wait for the other side, and its end; `None`: it is not waited for.
    waits: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S, T: Fn(Option<Instant>)> Stalled<S, T> {
    /// The connection with the patience for its other side; `on_stall` is told the time from which on that takes nothing.
    pub fn new(stream: S, patience: Duration, on_stall: T) -> Stalled<S, T> {
        Stalled { stream, patience, left: patience, on_stall, waits: None }
    }

    /// Passes on the result of writing `written` bytes; an error as soon as that has taken too long.
    fn in_time(&mut self, context: &mut Context, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        let Poll::Ready(written) = written else {
            let (_, until) = self.waits.get_or_insert_with(|| {
                let now = Instant::now();
                (self.on_stall)(Some(now));
                (now, Box::pin(sleep(self.left)))
            });
            return until.as_mut().poll(context).map(|()| Err(ErrorKind::TimedOut.into()));
        };
        if let Some((since, _)) = self.waits.take() {
            (self.on_stall)(None);
            self.left = self.left.saturating_sub(since.elapsed());
        }
        let taken = *written.as_ref().unwrap_or(&0);
        self.left = self.patience.min(self.left + Duration::from_secs_f64(taken as f64 / SLOWEST));
        Poll::Ready(written)
    }
}

impl<S: AsyncRead + Unpin, T: Unpin> AsyncRead for Stalled<S, T> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context, into: &mut ReadBuf) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin, T: Fn(Option<Instant>) + Unpin> AsyncWrite for Stalled<S, T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context,
        bytes: &[io::IoSlice],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.in_time(context, flushed.map_ok(|()| 0)).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn who_takes_nothing_is_given_up_and_who_is_slow_is_not() {
        let (ours, mut theirs) = duplex(8);
        // Whoever is slow is so by much less than this, whatever else the machine does.
        let mut ours = Stalled::new(ours, Duration::from_secs(2), |_| ());
        let slow = tokio::spawn(async move {
            for _ in 0..10 {
                sleep(Duration::from_millis(50)).await;
                theirs.read_exact(&mut [0; 8]).await.unwrap();
            }
            theirs
        });
        ours.write_all(&[0; 80]).await.unwrap();
        let _theirs = slow.await.unwrap();
        let error = ours.write_all(&[0; 80]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }

    /// However often he takes something; and nobody is given up who waits for what does not come.
    #[tokio::test]
    async fn who_takes_little_for_long_is_given_up_and_who_has_nothing_to_take_is_not() {
        const LONG: Duration = Duration::from_millis(300);
        let (ours, mut theirs) = duplex(8);
        let mut ours = Stalled::new(ours, LONG, |_| ());
        ours.write_all(&[0; 8]).await.unwrap();
        theirs.read_exact(&mut [0; 8]).await.unwrap();
        sleep(2 * LONG).await;
        ours.write_all(&[0; 8]).await.unwrap();
        let slow = tokio::spawn(async move {
            while theirs.read_exact(&mut [0]).await.is_ok() {
                sleep(LONG / 10).await;
            }
        });
        let error = ours.write_all(&[0; 80]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        drop(ours);
        slow.await.unwrap();
    }
}
