//! Shows a page to who has asked for it. Whatever keeps it from being shown is said and fails nothing: the page is there.

use super::diagnostics::say;
use std::env;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A program that cannot show a page says so within this time; one that shows it may go on for as long as somebody reads.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows a page in `$BROWSER`, or in what the desktop opens pages with.
pub fn show(page: &Path) {
    let page = std::path::absolute(page).unwrap_or_else(|_| page.to_owned());
    if let Err(why) = open(&page) {
        say(&format!("note: not shown in a browser, {why}: {}", page.display()));
    }
}

fn open(page: &Path) -> Result<(), String> {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    // A browser with the rights of root reads what strangers have written with them.
    if rustix::process::geteuid().is_root() && is_set("SUDO_USER") {
        return Err("since root should not run one; open it yourself".to_owned());
    }
    let wanted = env::var("BROWSER").unwrap_or_default();
    let program = match wanted.split(':').find(|one| !one.is_empty()) {
        Some(own) => own,
        None if is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") => "xdg-open",
        None => return Err("since there is no display here ($DISPLAY, $WAYLAND_DISPLAY) and no $BROWSER".to_owned()),
    };
    let started =
        command(program, page).spawn().map_err(|error| format!("since {program} cannot be started ({error})"))?;
    match ended_badly(started) {
        Some(how) => Err(format!("since {program} failed ({how})")),
        None => Ok(()),
    }
}

/// The words of `$BROWSER`, in which `%s` stands for the page, or the page comes last.
fn command(program: &str, page: &Path) -> Command {
    let mut words = program.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(program));
    let mut is_named = false;
    for word in words {
        match word {
            "%s" => {
                is_named = true;
                command.arg(page)
            }
            word => command.arg(word),
        };
    }
    if !is_named {
        command.arg(page);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C on this terminal is not meant for it.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command
}

/// How a program has ended that could not do its work, if it says so soon.
fn ended_badly(mut program: Child) -> Option<String> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        match program.try_wait() {
            Ok(Some(status)) if status.success() => return None,
            Ok(Some(status)) => return Some(status.to_string()),
            Ok(None) => thread::sleep(Duration::from_millis(20)),
            Err(error) => return Some(error.to_string()),
        }
    }
    None
}
