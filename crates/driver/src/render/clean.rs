//! What is taken out of content before anyone sees it: all that acts instead of being read.
//!
//! Owns the list of characters and the shapes of terminal sequences. It does not know lines that imitate the
//! node; what it leaves is judged afterwards, so nothing that is taken out can hide such a line.

/// Text without what would act on a terminal or deceive a reader.
///
/// Line ends of every kind become newlines, so that none can hide the start of a line. Sequences for terminals
/// go whole, or, where they have no end, without what begins them. Of the invisible characters two stay, where
/// emoji are made of them: a joiner between two pictures, and the choice of a picture's form behind it. There they
/// can split no word. The other joiners go too, which costs some scripts a ligature and no letter.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    each_kept(text, |c| {
        out.push(c);
        true
    });
    out
}

/// Hands over one by one the characters that stay, until `take` says that it wants no more.
///
/// Linear: what is looked at ahead of its turn ends at the next control character, so it is looked at twice.
pub(super) fn each_kept(text: &str, mut take: impl FnMut(char) -> bool) {
    let mut chars = text.chars();
    let mut before = None;
    while let Some(c) = chars.next() {
        let kept = match c {
            '\r' if chars.as_str().starts_with('\n') => continue,
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => '\n',
            '\n' | '\t' => c,
            '\u{1b}' => {
                chars = after_escape(chars.as_str()).chars();
                continue;
            }
            '\u{9b}' => {
                chars = after_control_sequence(chars.as_str()).chars();
                continue;
            }
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => {
                chars = after_string(chars.as_str()).chars();
                continue;
            }
            '\u{200d}' => {
                let follows = chars.as_str().chars().next().is_some_and(is_picture);
                if !(follows && before.is_some_and(|before| is_picture(before) || before == PICTURE_FORM)) {
                    continue;
                }
                c
            }
            '\u{fe0e}' | PICTURE_FORM => {
                if !before.is_some_and(|before| is_picture(before) || is_key(before)) {
                    continue;
                }
                c
            }
            c if is_dropped(c) => continue,
            c => c,
        };
        before = Some(kept);
        if !take(kept) {
            return;
        }
    }
}

/// Behind a character it asks for that one's coloured form.
const PICTURE_FORM: char = '\u{fe0f}';

/// Pictures that emoji are joined of. None of them reads as a letter.
fn is_picture(c: char) -> bool {
    matches!(
        c,
        '\u{2190}'..='\u{21ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f300}'..='\u{1faff}'
    )
}

/// What a picture's form may follow besides: the signs of telephone keys, and a few that are older than emoji.
fn is_key(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '#' | '*' | '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}')
}

/// Characters without a shape of their own, or which change how others are read.
fn is_dropped(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Soft hyphen, joiners and fillers that show as nothing or as a blank.
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
            | '\u{180b}'..='\u{180f}'
            // Zero width, and the order of reading.
            | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            // Other forms of a letter, the byte order mark, annotations between the lines.
            | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            // Invisible signs of shorthand and of music.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Tags, in which a whole text can stand unseen, and the rarer forms of letters.
            | '\u{e0000}'..='\u{e0fff}'
        )
        || is_no_character(c)
}

/// Code points that will never be characters.
fn is_no_character(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

/// What is left behind the escape character and the sequence that it begins.
fn after_escape(rest: &str) -> &str {
    let mut chars = rest.chars();
    match chars.next() {
        Some('[') => after_control_sequence(chars.as_str()),
        Some(']' | 'P' | 'X' | '^' | '_') => after_string(chars.as_str()),
        Some(' '..='/') => {
            let end = rest.trim_start_matches(|c| matches!(c, ' '..='/'));
            after_final(end, |c| matches!(c, '0'..='~')).unwrap_or(rest)
        }
        Some('0'..='~') => chars.as_str(),
        _ => rest,
    }
}

/// Behind parameters and the letter that ends them; without such a letter nothing but the introducer is taken.
fn after_control_sequence(rest: &str) -> &str {
    let end = rest.trim_start_matches(|c| matches!(c, ' '..='?'));
    after_final(end, |c| matches!(c, '@'..='~')).unwrap_or(rest)
}

/// Behind a string for the terminal and its end. Without an end its text is left to be read: to take it would let
/// content hide what follows.
fn after_string(rest: &str) -> &str {
    let Some(at) = rest.find(char::is_control) else { return rest };
    let (_, end) = rest.split_at(at);
    let ended = end.strip_prefix(['\u{7}', '\u{9c}']).or_else(|| end.strip_prefix("\u{1b}\\"));
    ended.unwrap_or(rest)
}

fn after_final(end: &str, is_final: impl Fn(char) -> bool) -> Option<&str> {
    let mut chars = end.chars();
    chars.next().filter(|c| is_final(*c)).map(|_| chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MSG-025.
    #[test]
    fn sequences_go_whole_and_what_has_no_end_stays_as_text() {
        for (given, left) in [
            ("a\u{1b}[31mred\u{1b}[0m", "ared"),
            ("a\u{9b}31mred", "ared"),
            ("\u{1b}[200~ls\u{1b}[201~", "ls"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]52;c;aGk=\u{1b}\\x", "x"),
            ("\u{9d}0;title\u{9c}x", "x"),
            ("\u{1b}P1;2q#0\u{1b}\\x", "x"),
            ("\u{1b}]0;no end", "0;no end"),
            ("\u{1b}]0;line\nnext\u{7}", "0;line\nnext"),
            ("\u{1b}]0;\u{1b}[2Jx", "0;x"),
            ("\u{1b}[12;\nx", "12;\nx"),
            ("\u{1b}(Bx\u{1b}cy\u{1b}", "xy"),
            ("\u{1b}\u{1b}[1mx", "x"),
            ("\u{1b}\0[2Jx", "[2Jx"),
        ] {
            assert_eq!(clean(given), left, "{given:?}");
        }
    }

    /// Proves MSG-024.
    #[test]
    fn every_line_end_is_a_newline() {
        assert_eq!(
            clean("a\r\nb\rc\u{b}d\u{c}e\u{85}f\u{2028}g\u{2029}h\r\r\ni"),
            "a\nb\nc\nd\ne\nf\ng\nh\n\ni"
        );
    }

    /// Proves MSG-025.
    #[test]
    fn what_cannot_be_seen_goes() {
        for c in "\0\u{7}\u{8}\u{7f}\u{80}\u{9f}\u{ad}\u{34f}\u{61c}\u{180e}\u{200b}\u{200c}\u{200e}\u{200f}\u{202a}\
            \u{202e}\u{2060}\u{2066}\u{2069}\u{206f}\u{3164}\u{fe00}\u{fe0f}\u{feff}\u{fff9}\u{fffb}\u{fdd0}\u{ffff}\
            \u{e0001}\u{e0041}\u{e007f}\u{e0100}\u{e01ef}\u{10ffff}"
            .chars()
        {
            assert_eq!(clean(&format!("a{c}b")), "ab", "U+{:04X}", u32::from(c));
        }
    }

    /// Proves MSG-025.
    #[test]
    fn a_joiner_stays_between_pictures_only() {
        for (given, left) in [
            ("👩\u{200d}💻", "👩\u{200d}💻"),
            ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\u{200d}🔥"),
            ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
            ("MES\u{200d}SAGE", "MESSAGE"),
            ("👩\u{200d}\u{200d}💻", "👩\u{200d}💻"),
            ("👩\u{200d}", "👩"),
            ("x\u{fe0f}❤\u{fe0f}\u{fe0f}", "x❤\u{fe0f}"),
        ] {
            assert_eq!(clean(given), left, "{given:?}");
        }
    }

    /// Proves MSG-005.
    #[test]
    fn what_people_write_stays() {
        let text = "Grüße, שלום, नमस्ते, 漢字 — “quoted” [1] {x} <y>\ttab é e\u{301}";
        assert_eq!(clean(text), text);
    }
}
