//! The secret of clients that speak to the daemon over TCP.

use constant_time_eq::constant_time_eq;
use std::fmt;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use vecud_host::Error;

/// Fewer characters can be guessed.
const SHORTEST: usize = 16;
/// More of a file is not read.
const LONGEST: u64 = 4096;

/// A secret. It does not show itself.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The token in a file that only its user can read, who is the user of this process.
    pub fn read(path: &Path) -> Result<Token, Error> {
        let refused = |what: String| Error::Command(format!("{}: {what}", path.display()));
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(Error::file(path))?;
        let metadata = file.metadata().map_err(Error::file(path))?;
        if !metadata.is_file() {
            return Err(refused("this is no file; a token is the only line of one".to_owned()));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(refused("the file of a token must belong to the user of vecud; make a copy of it".to_owned()));
        }
        if metadata.mode() & 0o077 != 0 {
            let (mode, shown) = (metadata.mode() & 0o777, vecud_base::plain::shell_word(&path.to_string_lossy()));
            return Err(refused(format!(
                "others may get at this token (mode {mode:04o}); `chmod 600 {shown}` mends that"
            )));
        }
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).map_err(Error::file(path))?;
        Token::new(text.trim_ascii()).map_err(refused)
    }

    /// The token of these characters; `Err`: the reason why they are none.
    pub fn new(text: &str) -> Result<Token, String> {
        let make = "`(umask 077; openssl rand -hex 32 > FILE)` makes one";
        if text.len() < SHORTEST {
            return Err(format!("a token of {} characters can be guessed, {SHORTEST} are needed; {make}", text.len()));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("a token is one line of letters, digits and signs of ASCII, without blanks; {make}"));
        }
        Ok(Token(text.to_owned()))
    }

    /// Whether somebody has shown it. How long that takes says nothing of where what was shown differs.
    pub fn is(&self, shown: &[u8]) -> bool {
        constant_time_eq(self.0.as_bytes(), shown)
    }

    /// The value of the header `Authorization` that shows it.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_plain_and_does_not_show_itself() {
        let token = Token::new("0123456789abcdef").unwrap();
        assert!(token.is(b"0123456789abcdef"));
        for other in ["0123456789abcdeF", "0123456789abcde", "0123456789abcdef0", ""] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
        assert!(!format!("{token:?}").contains('0'));
        for (wrong, words) in
            [("short", "5 characters"), ("0123456789 abcdef", "blanks"), ("0123456789abcdeä", "ASCII")]
        {
            assert!(Token::new(wrong).unwrap_err().contains(words), "{wrong}");
        }
    }
}
