//! The life of a daemon, from its state folder to the end of all rigs.

use crate::api;
use crate::listen::{self, Socket, Tcp};
use crate::rigs::Rigs;
use crate::service::{Pulses, ServiceManager};
use crate::settings::{DaemonSettings, SocketAt};
use crate::store::Store;
use std::sync::Arc;
use std::time::Duration;
use vecud_host::Error;

/// Time between two looks for a request to end, or to read files again.
const LOOK: Duration = Duration::from_millis(50);

/// Serves until somebody asks for the end; then all rigs come to theirs. `ready` is called as soon as requests are answered, with the
/// name of the socket.
pub fn serve(settings: &DaemonSettings, ready: impl FnOnce(&str)) -> Result<(), Error> {
    let system = |error: std::io::Error| Error::System(format!("threads for requests: {error}"));
    let store = Store::open(&settings.state)?;
    let socket = match &settings.socket {
        SocketAt::Path(path) => Socket::bind(path)?,
        SocketAt::Given(descriptor) => Socket::given(descriptor)?,
    };
    let tcp = settings.tcp.as_ref().map(|(address, access)| Ok((Tcp::bind(*address)?, access))).transpose()?;
    let rigs = Arc::new(Rigs::load(store, settings.rigs.clone(), settings.log.clone())?);
    let requests = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(api::THREADS + 2)
        .thread_name("vecud.http")
        .enable_io()
        .enable_time()
        .build()
        .map_err(system)?;
    let (manager, pulses) = (ServiceManager::new(settings.log.clone()), Pulses::default());
    let api = api::router(rigs.clone());
    let attendance = requests.block_on(async {
        let asked = async {
            while !settings.stop.is_asked() {
                pulses.main.beat();
                tokio::time::sleep(LOOK).await;
            }
            rigs.streams.end();
            rigs.end_checks();
        };
        let rigs_as_wanted = rigs.clone();
        tokio::task::spawn_blocking(move || rigs_as_wanted.resume());
        tokio::spawn(api::answer(rigs.clone(), pulses.requests.clone()));
        tokio::spawn(reload(rigs.clone(), manager.clone(), settings.reload));
        let attendance = manager.attend(rigs.clone(), pulses.clone());
        ready(&socket.name());
        manager.is_ready();
        let tcp = tcp.map(|(tcp, access)| (tcp, api::over_tcp(api.clone(), access.clone())));
        let served = listen::serve(&socket, api, tcp, &settings.log, asked).await;
        manager.is_stopping();
        served.map(|()| attendance)
    })?;
    rigs.end(&settings.stop, || pulses.main.beat());
    drop(attendance);
    Ok(())
}

/// Reads the files of rigs again on each request, one at a time.
async fn reload(rigs: Arc<Rigs>, manager: ServiceManager, is_asked: fn() -> bool) {
    loop {
        tokio::time::sleep(LOOK).await;
        if is_asked() {
            let (rigs, manager) = (rigs.clone(), manager.clone());
            let work = move || {
                let _meanwhile = manager.reloads();
                rigs.reload();
            };
            let _panicked = tokio::task::spawn_blocking(work).await;
        }
    }
}
