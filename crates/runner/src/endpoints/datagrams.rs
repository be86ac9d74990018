//! A socket: each datagram is an item, with the time at which the kernel received it. What is in it is ignored.
//!
//! A bounded number of datagrams per second is taken out of each socket, so that a flood costs partitions below the receiver a bounded
//! share of their core and holds up no item of another endpoint: the kernel throws away the rest, and counts it.

use super::endpoint::{Endpoint, Look, Opened, Opener};
use super::intake::Intake;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;
use vecud_base::time::Nanos;
use vecud_linux::datagram::{ControlMessage, DatagramSocket, Received};
use vecud_linux::process;
use vecud_plan::schedule::TokenBucket;
use vecud_plan::{DatagramAddress, OpenEndpoint};

/// Datagrams per second that are looked at, beyond twice the accepted rate: about one hundredth of a core, shared equally by the
/// endpoints.
const LOOKS: f64 = 10_000.0;
/// Looks in a row at one socket.
const LOOKS_AT_ONCE: u32 = 64;

/// One socket.
struct Datagrams {
    socket: DatagramSocket,
    control: ControlMessage,
    /// How often it is looked at.
    looks: TokenBucket,
    /// When the socket was last seen without a datagram.
    empty: Nanos,
}

impl OpenEndpoint<DatagramAddress, Opened> for Opener<'_> {
    fn open(self, _: &DatagramAddress) -> Opened {
        let Opener { own, plan, sockets } = self;
        let number = sockets.next().expect("without an end");
        // A duplicate: a further run will want it again.
        let socket = process::duplicate_of(number).map_err(|error| format!("no socket: {error}"))?;
        let looks = TokenBucket::new(2.0 * own.max_rate + LOOKS / plan.endpoints.len() as f64, LOOKS_AT_ONCE);
        let (socket, control) = (DatagramSocket::inherited(socket), ControlMessage::default());
        Ok(Box::new(Datagrams { socket, control, looks, empty: Nanos(0) }))
    }
}

impl Endpoint for Datagrams {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }

    fn take(&mut self, look: &Look, intake: &mut Intake) -> Option<Duration> {
        let run = look.run;
        let mut asked = Nanos(run.now());
        loop {
            if look.end.is_none() && !self.looks.accept(asked) {
                let pause = self.looks.next().minus(asked).0.max(1);
                return Some(Duration::from_nanos(pause as u64));
            }
            let received = self.socket.receive(&mut self.control);
            let now = Nanos(run.now());
            match received {
                Received::Datagram(stamp) => {
                    let arrival = look.offset.arrival(stamp.map(Nanos), self.empty, now);
                    intake.take(run, arrival);
                    if look.end.is_some_and(|end| arrival > end) {
                        return None;
                    }
                }
                // A socket that cannot be read is not asked more often than one that can.
                Received::Nothing | Received::Failed(_) => {
                    self.empty = asked;
                    return None;
                }
            }
            asked = now;
        }
    }

    fn lost(&self) -> u32 {
        self.socket.dropped()
    }
}
