//! Text as XML and as HTML: for `junit.xml` and for pages.

use vecud_base::plain::plain;

/// Text for content and for attributes: as [`vecud_base::plain::Plain`] writes it, with U+FFFD for two further characters that XML
/// 1.0 cannot have.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Text [escaped](escape) as HTML; text between two backticks is code, as in messages of this program.
pub fn escape_with_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, code, after)) =
        rest.split_once('`').and_then(|(before, tail)| tail.split_once('`').map(|(code, after)| (before, code, after)))
    {
        out += &escape(before);
        out += &format!("<code>{}</code>", escape(code));
        rest = after;
    }
    out + &escape(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_in_markup_is_text() {
        assert_eq!(
            escape("<b a=\"1\" c='2'>&\u{1}\u{ffff}"),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;\\u{1}\u{fffd}"
        );
    }

    #[test]
    fn what_stands_between_backticks_is_code() {
        assert_eq!(escape_with_code("`vecud doctor` says <more>"), "<code>vecud doctor</code> says &lt;more&gt;");
        assert_eq!(escape_with_code("fmu `a<b`: `c`d"), "fmu <code>a&lt;b</code>: <code>c</code>d");
        assert_eq!(escape_with_code("a ` of nobody"), "a ` of nobody");
        assert_eq!(escape_with_code(""), "");
    }
}
