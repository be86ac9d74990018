//! How a run and its instances have ended.

/// Whether a run has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// Yes: what is known of it is complete.
    #[default]
    Finished,
    /// No: it goes on, and this is what is known so far.
    Running,
    /// It has, and nobody has seen how: its supervisor was killed, or the machine lost power.
    CutOff,
}

/// How a run ended; of one that is not [`Ended::Finished`], a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// At its stop time.
    StopTime,
    /// By SIGINT, SIGTERM, SIGHUP or SIGQUIT.
    Signal,
    /// By an overrun, as the rig says.
    Overrun,
    /// By a failure.
    Failure,
}

/// How an instance ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FmuStatus {
    /// `fmi3Terminate` and `fmi3FreeInstance` were called.
    Terminated,
    /// The FMU returned fmi3Error or fmi3Discard.
    Error,
    /// The FMU returned fmi3Fatal.
    Fatal,
    /// The FMU did nothing wrong but could not end in the regular way.
    Aborted,
    /// The FMU's code crashed or exited.
    Crashed,
    /// The FMU's code did not return in time.
    Hung,
    /// It has not ended as far as is known, in a run that is not [`Ended::Finished`].
    Running,
}
