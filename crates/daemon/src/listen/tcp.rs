//! An address of this machine for clients with the token.

use std::io;
use std::net::{SocketAddr, TcpListener};
use vecud_host::Error;

/// A port that is this process's alone.
pub struct Tcp {
    listener: TcpListener,
    address: SocketAddr,
}

impl Tcp {
    /// Listens at this address; port 0 is one that nobody has.
    pub fn bind(address: SocketAddr) -> Result<Tcp, Error> {
        let failed = |error: io::Error| {
            Error::System(format!("{address}: cannot listen there: {error}; choose another address with --listen"))
        };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Tcp { listener, address })
    }

    /// The address with its port, for messages.
    pub fn name(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The listener that accepts connections, in the runtime of the caller.
    pub fn listener(&self) -> io::Result<tokio::net::TcpListener> {
        self.listener.try_clone().and_then(tokio::net::TcpListener::from_std)
    }
}
