//! One result of doctor: the state, its cost, the remedy.

#![forbid(unsafe_code)]

use vecud_base::plain::{plain, shell_word};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Can cost a 1 ms task a release (about a millisecond), or removes a thing that vecud needs.
    Problem,
    /// The state costs microseconds, up to some hundred; or more under a named condition.
    Advice,
    /// Right, or impossible to change.
    Ok,
}

impl Level {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Level::Problem => "problem",
            Level::Advice => "advice",
            Level::Ok => "ok",
        }
    }
}

/// One result of doctor. Texts contain no control characters, whatever the machine's files contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the check: a stable word for programs.
    pub check: &'static str,
    /// Number of the core, for findings about one core.
    pub cpu: Option<usize>,
    /// Severity.
    pub level: Level,
    /// The state, as a phrase.
    pub found: String,
    /// Effect on latency; empty where nothing is wrong.
    pub why: String,
    /// Remedy.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Makes a finding without a need for change.
    pub fn ok(check: &'static str, found: impl AsRef<str>) -> Finding {
        Finding { check, cpu: None, level: Level::Ok, found: plain(found.as_ref()), why: String::new(), fix: None }
    }

    /// Makes a finding that costs microseconds.
    pub fn advice(check: &'static str, found: impl AsRef<str>, why: impl AsRef<str>) -> Finding {
        Finding { level: Level::Advice, why: plain(why.as_ref()), ..Finding::ok(check, found) }
    }

    /// Makes a finding that costs releases.
    pub fn problem(check: &'static str, found: impl AsRef<str>, why: impl AsRef<str>) -> Finding {
        Finding { level: Level::Problem, ..Finding::advice(check, found, why) }
    }

    /// Assigns the finding to a core.
    pub fn of(self, cpu: usize) -> Finding {
        Finding { cpu: Some(cpu), ..self }
    }

    /// Adds a remedy.
    pub fn fixed_by(self, fix: Fix) -> Finding {
        Finding { fix: Some(fix), ..self }
    }
}

/// Condition for a fix to take effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing further: the commands of the fix last until the next boot, with the file beyond it.
    Nothing,
    /// A new login.
    Login,
    /// A reboot.
    Reboot,
    /// A change by the host of this virtual machine or container, or by the parent of this process.
    Host,
}

impl Needs {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Needs::Nothing => "nothing",
            Needs::Login => "login",
            Needs::Reboot => "reboot",
            Needs::Host => "host",
        }
    }
}

/// A remedy. At least one of its parts is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Commands of root that take effect now.
    pub now: Vec<Action>,
    /// File that makes the change last: one of [`FILES`].
    pub file: Option<&'static str>,
    /// Instructions for a person.
    pub words: String,
    /// Further conditions.
    pub needs: Needs,
}

impl Fix {
    /// Makes a remedy of commands alone.
    pub fn now(now: Vec<Action>) -> Fix {
        Fix { now, file: None, words: String::new(), needs: Needs::Nothing }
    }

    /// Makes a remedy that writes a value to a file of the kernel.
    pub fn write(value: impl ToString, path: impl Into<String>) -> Fix {
        Fix::now(vec![Action::write(value, path)])
    }

    /// Makes a remedy of words alone.
    pub fn words(words: impl AsRef<str>, needs: Needs) -> Fix {
        Fix { now: Vec::new(), file: None, words: plain(words.as_ref()), needs }
    }

    /// Makes a remedy of a file of `rt-config/` alone.
    pub fn file(file: &'static str, needs: Needs) -> Fix {
        Fix { now: Vec::new(), file: Some(file), words: String::new(), needs }
    }

    /// Adds the file that makes the change last.
    pub fn lasting(self, file: &'static str) -> Fix {
        Fix { file: Some(file), ..self }
    }

    /// Adds instructions.
    pub fn and(self, words: impl AsRef<str>) -> Fix {
        Fix { words: plain(words.as_ref()), ..self }
    }
}

/// One action of root in a POSIX shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Writes a value to a file of the kernel.
    Write {
        /// The value.
        value: String,
        /// Path of the file.
        path: String,
    },
    /// Runs a command; texts from the machine are quoted in it.
    Run(String),
}

impl Action {
    /// Makes an action that writes a value to a file of the kernel.
    pub fn write(value: impl ToString, path: impl Into<String>) -> Action {
        Action::Write { value: value.to_string(), path: path.into() }
    }

    /// Makes an action that mounts debugfs where it is not mounted.
    pub fn mount_debugfs() -> Action {
        Action::Run("[ -e /sys/kernel/debug/sched ] || mount -t debugfs debugfs /sys/kernel/debug".to_owned())
    }

    /// The command as typed in a shell.
    pub fn command(&self) -> String {
        match self {
            Action::Write { value, path } => format!("echo {} > {}", shell_word(value), shell_word(path)),
            Action::Run(command) => command.clone(),
        }
    }
}

/// Options for the kernel command line.
pub(super) const GRUB: &str = "rt-config/grub.d/vecud.cfg";
/// Settings of `/proc/sys`.
pub(super) const SYSCTL: &str = "rt-config/sysctl.d/99-vecud.conf";
/// Limits of users: real-time priorities and locked memory.
pub(super) const LIMITS: &str = "rt-config/limits.d/vecud.conf";
/// Access to `/dev/cpu_dma_latency`.
pub(super) const UDEV: &str = "rt-config/udev/99-vecud.rules";
/// Moves interrupts to other cores.
pub(super) const IRQ_AFFINITY: &str = "rt-config/irq-affinity";
/// Sets the governor, huge pages and the fair server.
pub(super) const TUNED: &str = "rt-config/tuned/vecud/tuned.conf";
/// Runs a rig as a service.
pub(super) const UNIT: &str = "systemd/vecud@.service";

/// Every file that a [`Fix`] names, relative to the repository.
pub const FILES: [&str; 7] = [GRUB, SYSCTL, LIMITS, UDEV, IRQ_AFFINITY, TUNED, UNIT];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_quote_what_must_be_quoted() {
        assert_eq!(Action::write(-1, "/proc/x y").command(), "echo -1 > '/proc/x y'");
    }

    #[test]
    fn nothing_of_the_machine_can_drive_a_terminal() {
        assert_eq!(Finding::ok("x", "a\x1b[2J\nb").found, "a\\u{1b}[2J\\nb");
    }
}
