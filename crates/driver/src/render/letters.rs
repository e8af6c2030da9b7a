//! What a character looks like to a reader who does not look closely.
//!
//! A table of look-alikes is never complete. So a letter that it does not know is a joker, which may stand for any
//! one letter; how many jokers a word may have is decided where words are compared.

/// A letter that may be any.
pub(super) const JOKER: u8 = b'*';

/// What a character does in a line that might imitate one of the node's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// Nothing: it is drawn over the character before, or not at all.
    Mark,
    /// A gap.
    Blank,
    /// A letter: upper-case ASCII with `L` read as `I`, or [`JOKER`].
    Letter(u8),
    /// An opening bracket like the header's.
    Square,
    /// Another opening bracket.
    Round,
    /// A closing bracket like the header's.
    SquareEnd,
    /// Another closing bracket.
    RoundEnd,
    /// So many arrows to the left.
    Left(u8),
    /// So many arrows to the right.
    Right(u8),
    /// An upright bar.
    Bar,
    /// A colon.
    Colon,
    /// So many dots.
    Dots(u8),
    /// Anything else.
    Other,
}

/// What this character looks like.
pub(super) fn sign(c: char) -> Sign {
    match c {
        c if is_mark(c) => Sign::Mark,
        '[' | '［' | '⟦' | '【' | '〔' | '⁅' | '〖' | '〘' | '〚' | '❲' | '⦋' | '⦍' | '⦏' | '⟬' | '⦗'
        | '﹇' | '⌈' | '⌊' | '⎡' | '⎢' | '⎣' | '「' | '『' | '｢' | '﹝' | '⸢' | '⸤' => {
            Sign::Square
        }
        ']' | '］' | '⟧' | '】' | '〕' | '⁆' | '〗' | '〙' | '〛' | '❳' | '⦌' | '⦎' | '⦐' | '⟭' | '⦘'
        | '﹈' | '⌉' | '⌋' | '⎤' | '⎥' | '⎦' | '」' | '』' | '｣' | '﹞' | '⸣' | '⸥' => {
            Sign::SquareEnd
        }
        '(' | '（' | '{' | '｛' | '⦅' | '❨' | '❴' | '﹙' | '﹛' | '⁽' | '⎧' | '⎛' => {
            Sign::Round
        }
        ')' | '）' | '}' | '｝' | '⦆' | '❩' | '❵' | '﹚' | '﹜' | '⁾' | '⎫' | '⎞' => {
            Sign::RoundEnd
        }
        '<' | '＜' | '‹' | '〈' | '⟨' | '\u{2329}' | '❮' | '❰' | '˂' | 'ᐸ' | '﹤' | '⮜' | '⧼' => {
            Sign::Left(1)
        }
        '«' | '≪' | '《' | '⟪' => Sign::Left(2),
        '⋘' | '⫷' => Sign::Left(3),
        '>' | '＞' | '›' | '〉' | '⟩' | '\u{232a}' | '❯' | '❱' | '˃' | 'ᐳ' | '﹥' | '⮞' | '⧽' => {
            Sign::Right(1)
        }
        '»' | '≫' | '》' | '⟫' => Sign::Right(2),
        '⋙' | '⫸' => Sign::Right(3),
        '|' | '｜' | '│' | '┃' | '∣' | 'ǀ' | '❘' | '❙' | '⏐' | '︱' | '║' | '¦' | '￨' | '╎' | '╏' => {
            Sign::Bar
        }
        ':' | '：' | 'ː' | '∶' | '꞉' | '﹕' | '˸' | '։' | '׃' | '܃' | '܄' => Sign::Colon,
        '.' | '․' | '·' | '．' | '。' => Sign::Dots(1),
        '‥' => Sign::Dots(2),
        '…' | '⋯' | '⋮' | '⋰' | '⋱' | '︙' | '᠁' => Sign::Dots(3),
        c if c.is_whitespace() || c == '\u{2800}' => Sign::Blank,
        c => letter(c).map_or(Sign::Other, Sign::Letter),
    }
}

/// Marks over a letter, and what picks its form. Some of them count as letters, so they are asked for first.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
            | '\u{200d}' | '\u{20d0}'..='\u{20ff}' | '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// The letter as which this one is compared: `L` and `I` look the same in small writing.
pub(super) fn merged(letter: u8) -> u8 {
    if letter == b'L' { b'I' } else { letter }
}

fn letter(c: char) -> Option<u8> {
    let found = if let Ok(ascii) = u8::try_from(c)
        && ascii.is_ascii()
    {
        ascii_letter(ascii)
    } else {
        Some(styled(c).and_then(ascii_letter).or_else(|| drawn_alike(c)).unwrap_or(JOKER))
            .filter(|letter| *letter != JOKER || c.is_alphanumeric())
    };
    found.map(merged)
}

/// Digits and signs that stand for letters in disguised words.
fn ascii_letter(c: u8) -> Option<u8> {
    match c {
        b'0' => Some(b'O'),
        b'1' => Some(b'I'),
        b'3' => Some(b'E'),
        b'4' | b'@' => Some(b'A'),
        b'5' | b'$' => Some(b'S'),
        b'7' => Some(b'T'),
        b'8' => Some(b'B'),
        c if c.is_ascii_alphanumeric() => Some(c.to_ascii_uppercase()),
        _ => None,
    }
}

/// Alphabets that repeat the Latin one in another style: wide, bold, circled, squared.
fn styled(c: char) -> Option<u8> {
    let code = u32::from(c);
    let in_order = |first: u32, count: u32, start: u8| {
        let place = code.checked_sub(first).filter(|place| *place < count)?;
        start.checked_add(u8::try_from(place).ok()?)
    };
    let mathematical = || {
        let place = code.checked_sub(0x1d400).filter(|place| *place < 13 * 52)? % 26;
        b'A'.checked_add(u8::try_from(place).ok()?)
    };
    let mathematical_digit = || {
        let place = code.checked_sub(0x1d7ce).filter(|place| *place < 50)? % 10;
        b'0'.checked_add(u8::try_from(place).ok()?)
    };
    in_order(0xff21, 26, b'A')
        .or_else(|| in_order(0xff41, 26, b'A'))
        .or_else(|| in_order(0xff10, 10, b'0'))
        .or_else(|| in_order(0x249c, 26, b'A'))
        .or_else(|| in_order(0x24b6, 26, b'A'))
        .or_else(|| in_order(0x24d0, 26, b'A'))
        .or_else(|| in_order(0x1f110, 26, b'A'))
        .or_else(|| in_order(0x1f130, 26, b'A'))
        .or_else(|| in_order(0x1f150, 26, b'A'))
        .or_else(|| in_order(0x1f170, 26, b'A'))
        .or_else(|| in_order(0x1f1e6, 26, b'A'))
        .or_else(mathematical)
        .or_else(mathematical_digit)
}

/// Letters of other alphabets, and of Latin with signs, that are drawn like a Latin one. Only those of the words
/// that the node writes have to be here; the others are jokers.
const DRAWN_ALIKE: &[(u8, &str)] = &[
    (b'A', "ÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎȦȧẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặᴀΑαАаᎪꓮɑΛⲀ"),
    (b'B', "ʙΒВвᏴꓐ"),
    (b'C', "ÇçĆćĈĉĊċČčᴄСсϹϲᏟꓚℂℭ"),
    (b'D', "ĎďĐđᴅԁᎠꓓ"),
    (b'E', "ÈÉÊËèéêëĒēĔĕĖėĘęĚěȨȩẸẹẺẻẼẽẾếỀềỂểỄễỆệᴇΕεΣЕеЀЁѐёЄєᎬꓰℰℯ℮€ⴹƐɛƎǝ"),
    (b'F', "ƑƒḞḟꜰҒғϜϝꓝℱſẝ"),
    (b'G', "ĜĝĞğĠġĢģǤǥǦǧɢɡԌԍᏀꓖցℊ"),
    (b'H', "ʜΗНнᎻꓧℋℌℍ"),
    (b'I', "ÌÍÎÏìíîïĨĩĪīĬĭĮįİıɪΙιІіЇїӀӏᎥꓲℐℑĹĺĻļĽľĿŀŁłʟᏞꓡℒℓ"),
    (b'K', "ᴋΚκКкᏦꓗĶķ"),
    (b'M', "ᴍΜМмϺᎷꓟℳṀṁṂṃḾḿɱⅯⅿ"),
    (b'N', "ÑñŃńŅņŇňŉŊŋɴΝꓠոℕИи"),
    (b'O', "ÒÓÔÕÖØòóôõöøŌōŎŏŐőƠơỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợᴏΟοσОоօՕꓳℴΘ०০௦\u{c02}"),
    (b'P', "ᴘΡρРрᏢꓑℙÞþ"),
    (b'R', "ŔŕŖŗŘřʀᎡᏒꓣℛℜℝЯягɾ"),
    (b'S', "ŚśŜŝŞşŠšȘșꜱЅѕᏚꓢՏṠṡṢṣ§"),
    (b'T', "ŢţŤťŦŧᴛΤτТтᎢꓔȚț"),
    (b'U', "ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųᴜսՍꓴυ"),
    (b'W', "ᴡŴŵԝԜᎳꓪωш"),
    (b'V', "ᴠνѵѴᏙꓦ"),
    (b'X', "χΧХхꓫ"),
    (b'Y', "ÝýÿŶŷŸʏΥУуҮүꓬ"),
];

fn drawn_alike(c: char) -> Option<u8> {
    // Scripts of thousands of letters, none of which is drawn like a Latin one.
    if matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7ff}') {
        return None;
    }
    DRAWN_ALIKE.iter().find(|(_, alike)| alike.contains(c)).map(|(letter, _)| *letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves MSG-023.
    #[test]
    fn every_style_of_an_alphabet_is_read_as_its_letters() {
        let upper = [0xff21, 0x24b6, 0x1f110, 0x1f130, 0x1f150, 0x1f170, 0x1f1e6];
        let lower = [0xff41, 0x249c, 0x24d0];
        let mathematical = (0..26).map(|alphabet| 0x1d400 + 26 * alphabet);
        for first in upper.into_iter().chain(lower).chain(mathematical) {
            for letter in b'A'..=b'Z' {
                let c = char::from_u32(first + u32::from(letter - b'A'));
                assert_eq!(c.map(sign), Some(Sign::Letter(merged(letter))), "{c:?}");
            }
        }
        for (digit, letter) in [('\u{ff10}', b'O'), ('\u{1d7d1}', b'E'), ('\u{1d7ff}', b'9')] {
            assert_eq!(sign(digit), Sign::Letter(letter));
        }
    }

    /// Proves MSG-023.
    #[test]
    fn each_letter_of_the_words_of_the_node_has_doubles() {
        for letter in "OPERATORMESSAGEFROM".bytes() {
            let doubles = DRAWN_ALIKE.iter().find(|(of, _)| *of == letter).map(|(_, doubles)| *doubles);
            assert!(doubles.is_some_and(|doubles| doubles.chars().all(|c| sign(c) == Sign::Letter(letter))));
        }
    }
}
