//! The sockets of a run's endpoints: made here, before anything runs, and passed to the runner, which reads them.
//! This process only counts the datagrams that the kernel drops, and removes the files of unix sockets, even if the
//! runner crashes.

use super::{Error, Prepared};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering::SeqCst;
use vecud_linux::SysError;
use vecud_linux::datagram::{DatagramSocket, SocketFile};
use vecud_plan::UnitId;
use vecud_plan::rig::{At, DatagramAddress, EndpointSource, Place};
use vecud_record::board::{Board, TaskWord};

/// The sockets of a run, with an entry for each endpoint, in the order of the plan.
pub struct Sockets(Vec<Socket>);

struct Socket {
    /// `None`: the endpoint has none.
    socket: Option<(DatagramSocket, Option<SocketFile>)>,
    unit: UnitId,
    /// Number of datagrams that the kernel had dropped at the last check. The kernel's own counter wraps at 2^32.
    dropped: u64,
    /// Value of `dropped` at the start of this run.
    before: u64,
}

impl Sockets {
    /// Makes the sockets of the endpoints that the runner serves.
    pub fn bind(prepared: &Prepared) -> Result<Sockets, Error> {
        let mut all = Vec::new();
        for (unit, At { value: source, place }) in served(prepared) {
            let socket = source.socket().map(|address| make(prepared, *place, address)).transpose()?;
            all.push(Socket { socket, unit, dropped: 0, before: 0 });
        }
        Ok(Sockets(all))
    }

    /// Their descriptors.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().filter_map(|socket| Some(socket.socket.as_ref()?.0.as_fd()))
    }

    /// Updates the counts of dropped datagrams; to be called while the runner receives.
    pub fn look(&mut self) {
        for Socket { socket, dropped, .. } in &mut self.0 {
            socket.iter().for_each(|(socket, _)| *dropped = latest(*dropped, socket.dropped()));
        }
    }

    /// Number of datagrams that the kernel has dropped in this run for each task with an endpoint, until the runner
    /// stopped reading, or until now if it has not yet.
    pub fn dropped(&mut self, board: Board) -> Vec<(UnitId, u64)> {
        self.look();
        self.0.iter().map(|socket| (socket.unit, socket.total(board).saturating_sub(socket.before))).collect()
    }

    /// Number of dropped datagrams of a run that is over: later ones count for the next run.
    pub fn dropped_at_end(&mut self, board: Board) -> Vec<(UnitId, u64)> {
        let dropped = self.dropped(board);
        for socket in &mut self.0 {
            socket.before = socket.total(board);
        }
        dropped
    }
}

impl Socket {
    fn total(&self, board: Board) -> u64 {
        match board.task(self.unit).word(TaskWord::DroppedAtEnd).load(SeqCst) {
            0 => self.dropped,
            noted => latest(self.dropped, noted as u32),
        }
    }
}

/// Checks, as far as possible without making them, whether a run would get its sockets. Takes no datagrams from others.
pub fn check_sockets(prepared: &Prepared) -> Result<(), Error> {
    for (_, At { value: source, place }) in served(prepared) {
        let Some(address) = source.socket() else { continue };
        let checked = match address {
            DatagramAddress::Udp(address) => DatagramSocket::check_udp(*address),
            DatagramAddress::Unix(path) => DatagramSocket::check_unix(path),
        };
        checked.map_err(|error| refused(prepared, *place, &error))?;
    }
    Ok(())
}

/// The endpoints that the runner serves: the task that each ticks, or ticks a clock of, and its source.
fn served(prepared: &Prepared) -> impl Iterator<Item = (UnitId, &At<EndpointSource>)> {
    let targets = prepared.plan.receiver.iter().flat_map(|_| &prepared.plan.endpoints).map(|own| own.target.unit);
    targets.zip(&prepared.endpoints)
}

fn make(
    prepared: &Prepared,
    place: Place,
    address: &DatagramAddress,
) -> Result<(DatagramSocket, Option<SocketFile>), Error> {
    may_look(prepared, place, address)?;
    let made = match address {
        DatagramAddress::Udp(address) => DatagramSocket::udp(*address).map(|socket| (socket, None)),
        DatagramAddress::Unix(path) => DatagramSocket::unix(path).map(|(socket, file)| (socket, Some(file))),
    };
    made.map_err(|error| refused(prepared, place, &error))
}

/// Refuses an address in a folder that its author may not see, since errors reveal the folder's content.
fn may_look(prepared: &Prepared, place: Place, address: &DatagramAddress) -> Result<(), Error> {
    let DatagramAddress::Unix(path) = address else { return Ok(()) };
    let Some(folder) = path.parent().filter(|_| !prepared.options.rights.are_own()) else { return Ok(()) };
    // The socket is made, and an unused one removed, with the daemon's rights, so the author must be allowed to do
    // both.
    let looked = prepared.options.rights.at(folder, |way| {
        accessat(CWD, way, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS)?;
        fs::read_dir(way).map(drop)
    });
    looked.map_err(|error| Error::InRig(prepared.file.clone(), place, Box::new(Error::file(folder)(error))))
}

fn refused(prepared: &Prepared, place: Place, error: &SysError) -> Error {
    Error::InRig(prepared.file.clone(), place, Box::new(Error::System(error.to_string())))
}

/// The total with the lower half `low` that is nearest to a recent total.
fn latest(total: u64, low: u32) -> u64 {
    total.saturating_add_signed(i64::from(low.wrapping_sub(total as u32) as i32))
}

#[cfg(test)]
mod tests {
    use super::latest;

    #[test]
    fn the_kernels_counter_may_begin_anew() {
        assert_eq!((latest(0, 7), latest(7, 7), latest(9, 7)), (7, 7, 7));
        let total = (5 << 32) - 1;
        assert_eq!(latest(total, 2), total + 3);
        assert_eq!(latest(total + 3, u32::MAX), total);
    }
}
