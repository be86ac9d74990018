//! A connection whose other side may not stand still while it is sent something.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection that ends when the other side takes nothing for as long as this.
pub struct Stalled<S, T> {
    stream: S,
    patience: Duration,
    /// Is told since when the other side takes nothing; `None`: it does again.
    on_stall: T,
    /// Until when something must be taken; `None`: nobody waits for that.
    until: Option<Pin<Box<Sleep>>>,
}

impl<S, T: Fn(Option<Instant>)> Stalled<S, T> {
    /// The connection, how long its other side may take nothing, and who is told since when it does not.
    pub fn new(stream: S, patience: Duration, on_stall: T) -> Stalled<S, T> {
        Stalled { stream, patience, on_stall, until: None }
    }

    /// Passes on the result of writing; an error as soon as that has taken too long.
    fn in_time<W>(&mut self, context: &mut Context, written: Poll<io::Result<W>>) -> Poll<io::Result<W>> {
        if written.is_ready() {
            if self.until.take().is_some() {
                (self.on_stall)(None);
            }
            return written;
        }
        let until = self.until.get_or_insert_with(|| {
            (self.on_stall)(Some(Instant::now()));
            Box::pin(sleep(self.patience))
        });
        until.as_mut().poll(context).map(|()| Err(ErrorKind::TimedOut.into()))
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
        self.in_time(context, flushed)
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
}
