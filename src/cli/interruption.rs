//! Work that leaves nothing behind, although signals ask for its end.

use vecud_host::Error;
use vecud_linux::stop::{self, StopToken};

/// Does what leaves something behind if the process ends in the midst of it. Whoever asks for the end meanwhile (SIGINT and its
/// kind) gets it in good order; after it these signals do what they did before.
pub fn interruptible<T>(work: impl FnOnce(StopToken) -> Result<T, Error>) -> Result<T, Error> {
    let (stop, held) = stop::while_held().map_err(|error| Error::System(error.to_string()))?;
    let done = work(stop.clone())?;
    drop(held);
    Error::if_asked(&stop)?;
    Ok(done)
}
