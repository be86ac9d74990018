//! The end of a run and of its instances.

/// Whether a run has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ended {
    /// The run has ended: its facts are complete.
    #[default]
    Finished,
    /// The run continues: its facts are preliminary.
    Running,
    /// The run has ended unobserved: its supervisor was killed, or the machine lost power.
    CutOff,
}

/// The cause of a run's end; a failure unless the run is [`Ended::Finished`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The run ended at its stop time.
    StopTime,
    /// SIGINT, SIGTERM, SIGHUP or SIGQUIT ended the run.
    Signal,
    /// An overrun ended the run, as the rig says.
    Overrun,
    /// A failure ended the run.
    Failure,
}

/// Final status of an instance.
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
    /// The instance is not known to have ended, in a run that is not [`Ended::Finished`].
    Running,
}
