//! The body of an answer, and a value that is kept until the answer is over.

use hyper::body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A body and a held value, which is dropped with it when the body is sent or nobody takes it any more.
pub struct HeldBody<B, H> {
    body: B,
    _held: H,
}

impl<B, H> HeldBody<B, H> {
    /// The body, and the value that is kept meanwhile.
    pub fn new(body: B, held: H) -> HeldBody<B, H> {
        HeldBody { body, _held: held }
    }
}

impl<B: Body + Unpin, H: Unpin> Body for HeldBody<B, H> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
