//! One thing that was looked at: how it is, what that costs, what changes it.

#![forbid(unsafe_code)]

use vecud_base::plain::{plain, shell_word};

/// How bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What is found can cost a 1 ms task a release (about a millisecond), or takes away what vecud needs.
    Problem,
    /// What is found costs microseconds, up to some hundred of them; or more under a condition that is named.
    Advice,
    /// As it should be, or nothing that anybody could change.
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

/// One thing that was looked at. Texts hold no control characters, whatever the machine's files hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at: a stable word for programs.
    pub check: &'static str,
    /// The core that it is about, where it is about one.
    pub cpu: Option<usize>,
    /// How bad.
    pub level: Level,
    /// What was found, as a phrase.
    pub found: String,
    /// What it does to latency; empty where nothing is wrong.
    pub why: String,
    /// What changes it.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Nothing to change.
    pub fn ok(check: &'static str, found: impl AsRef<str>) -> Finding {
        Finding { check, cpu: None, level: Level::Ok, found: plain(found.as_ref()), why: String::new(), fix: None }
    }

    /// Something that costs microseconds.
    pub fn advice(check: &'static str, found: impl AsRef<str>, why: impl AsRef<str>) -> Finding {
        Finding { level: Level::Advice, why: plain(why.as_ref()), ..Finding::ok(check, found) }
    }

    /// Something that costs releases.
    pub fn problem(check: &'static str, found: impl AsRef<str>, why: impl AsRef<str>) -> Finding {
        Finding { level: Level::Problem, ..Finding::advice(check, found, why) }
    }

    /// The finding, about this core.
    pub fn of(self, cpu: usize) -> Finding {
        Finding { cpu: Some(cpu), ..self }
    }

    /// With this way out.
    pub fn fixed_by(self, fix: Fix) -> Finding {
        Finding { fix: Some(fix), ..self }
    }
}

/// What a fix needs before it is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The fix needs nothing but its commands; it lasts until the next boot, beyond that with its file.
    Nothing,
    /// A new login.
    Login,
    /// A reboot.
    Reboot,
    /// The host of this virtual machine or container, or whoever started this process.
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

/// A way out. At least one of its parts is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What root does now.
    pub now: Vec<Action>,
    /// What makes it last: one of [`FILES`].
    pub file: Option<&'static str>,
    /// What a person has to know or do.
    pub words: String,
    /// What else it takes.
    pub needs: Needs,
}

impl Fix {
    /// Commands alone.
    pub fn now(now: Vec<Action>) -> Fix {
        Fix { now, file: None, words: String::new(), needs: Needs::Nothing }
    }

    /// A value in a file of the kernel.
    pub fn write(value: impl ToString, path: impl Into<String>) -> Fix {
        Fix::now(vec![Action::write(value, path)])
    }

    /// Words alone.
    pub fn words(words: impl AsRef<str>, needs: Needs) -> Fix {
        Fix { now: Vec::new(), file: None, words: plain(words.as_ref()), needs }
    }

    /// A file of `rt-config/` alone.
    pub fn file(file: &'static str, needs: Needs) -> Fix {
        Fix { now: Vec::new(), file: Some(file), words: String::new(), needs }
    }

    /// And this file makes it last.
    pub fn lasting(self, file: &'static str) -> Fix {
        Fix { file: Some(file), ..self }
    }

    /// And this is to be known.
    pub fn and(self, words: impl AsRef<str>) -> Fix {
        Fix { words: plain(words.as_ref()), ..self }
    }
}

/// One thing that root does in a POSIX shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A value goes into a file of the kernel.
    Write {
        /// What.
        value: String,
        /// Where.
        path: String,
    },
    /// A command; what it holds of the machine's is quoted.
    Run(String),
}

impl Action {
    /// A value goes into a file of the kernel.
    pub fn write(value: impl ToString, path: impl Into<String>) -> Action {
        Action::Write { value: value.to_string(), path: path.into() }
    }

    /// Makes debugfs visible, where it is not.
    pub fn mount_debugfs() -> Action {
        Action::Run("[ -e /sys/kernel/debug/sched ] || mount -t debugfs debugfs /sys/kernel/debug".to_owned())
    }

    /// As one types it.
    pub fn command(&self) -> String {
        match self {
            Action::Write { value, path } => format!("echo {} > {}", shell_word(value), shell_word(path)),
            Action::Run(command) => command.clone(),
        }
    }
}

/// The kernel command line.
pub(super) const GRUB: &str = "rt-config/grub.d/vecud.cfg";
/// Settings of `/proc/sys`.
pub(super) const SYSCTL: &str = "rt-config/sysctl.d/99-vecud.conf";
/// Real-time priorities and locked memory of people.
pub(super) const LIMITS: &str = "rt-config/limits.d/vecud.conf";
/// `/dev/cpu_dma_latency`.
pub(super) const UDEV: &str = "rt-config/udev/99-vecud.rules";
/// Interrupts elsewhere.
pub(super) const IRQ_AFFINITY: &str = "rt-config/irq-affinity";
/// Governor, huge pages, the fair server.
pub(super) const TUNED: &str = "rt-config/tuned/vecud/tuned.conf";
/// A rig as a service.
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
