//! Texts from files in questions to the user: every character is visible, and no text can imitate the words of this package.

/// Characters that are invisible, look like a blank, change the order of others, or have no agreed appearance:
/// Unicode's `Default_Ignorable_Code_Point`, general categories Cc, Cf, Co, Zl, Zp, Zs without U+0020, and the
/// blank characters of other categories. Sorted.
const HIDDEN: [(char, char); 38] = [
    ('\0', '\u{1f}'),
    ('\u{7f}', '\u{a0}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    // Hangul fillers
    ('\u{115f}', '\u{1160}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{17b4}', '\u{17b5}'),
    // Mongolian variation selectors
    ('\u{180b}', '\u{180f}'),
    ('\u{2000}', '\u{200f}'),
    ('\u{2028}', '\u{202f}'),
    ('\u{205f}', '\u{206f}'),
    // A braille pattern without dots
    ('\u{2800}', '\u{2800}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{3164}', '\u{3164}'),
    // Private use, where a font may draw anything
    ('\u{e000}', '\u{f8ff}'),
    ('\u{fdd0}', '\u{fdef}'),
    // Variation selectors
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    // Interlinear annotations, the object replacement character
    ('\u{fff0}', '\u{fffc}'),
    ('\u{fffe}', '\u{ffff}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    // Egyptian hieroglyph format controls and blanks
    ('\u{13430}', '\u{13455}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    // A musical symbol without a head, and beams and slurs that begin and end
    ('\u{1d159}', '\u{1d159}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{1fffe}', '\u{1ffff}'),
    ('\u{2fffe}', '\u{2ffff}'),
    // Tags, variation selectors
    ('\u{e0000}', '\u{e0fff}'),
    // Private use
    ('\u{f0000}', '\u{10ffff}'),
];

/// Marks of [`framed`] at the beginning of a line and of a continued line; in a text they are written out.
pub const BAR: char = '│';
const BROKEN: char = '↪';
const SPACES: char = '␣';

/// Minimum number of consecutive spaces that are replaced by their count.
const MANY_SPACES: usize = 5;

/// Tests if a character is written out as its code point.
fn is_hidden(c: char) -> bool {
    let at = HIDDEN.partition_point(|(_, last)| *last < c);
    HIDDEN.get(at).is_some_and(|(first, _)| *first <= c) || matches!(c, BAR | BROKEN | SPACES)
}

/// Returns an upper bound of the terminal columns of a character.
fn columns(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

/// Returns each character of a text as it is shown, unchanged or written out, with its columns.
fn characters(text: &str) -> impl Iterator<Item = (String, usize)> {
    text.char_indices().map(|(at, c)| {
        let looks_written_out =
            c == '\\' && text.get(at..).is_some_and(|rest| rest.starts_with("\\u{"));
        if is_hidden(c) || looks_written_out {
            let written = c.escape_unicode().to_string();
            let columns = written.len();
            (written, columns)
        } else {
            (c.to_string(), columns(c))
        }
    })
}

/// Returns a text in which every character is visible: line ends stay, all other hidden characters are written out as code
/// points (`\u{2800}`).
pub fn exact(text: &str) -> String {
    let lines: Vec<String> =
        text.split('\n').map(|line| characters(line).map(|(shown, _)| shown).collect()).collect();
    lines.join("\n")
}

/// Treatment of consecutive spaces.
#[derive(Debug, Clone, Copy)]
pub enum Spaces {
    /// Replaced by one space.
    Single,
    /// Unchanged.
    Kept,
}

/// Returns the text of [`exact`] on one line, shortened to `width` columns.
pub fn exact_line(text: &str, width: usize, spaces: Spaces) -> String {
    /// The columns of `…`.
    const SIGN: usize = 2;
    let text = match spaces {
        Spaces::Single => {
            let words = text.split([' ', '\t', '\r', '\n']).filter(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        }
        Spaces::Kept => text.replace(['\t', '\r', '\n'], " "),
    };
    let mut line: Vec<(String, usize)> = Vec::new();
    let mut room = width;
    for (shown, columns) in characters(&text) {
        let Some(left) = room.checked_sub(columns) else {
            // The sign may need the columns of the last characters.
            while room < SIGN
                && let Some((_, columns)) = line.pop()
            {
                room += columns;
            }
            line.push(("…".to_owned(), SIGN));
            break;
        };
        room = left;
        line.push((shown, columns));
    }
    line.into_iter().map(|(shown, _)| shown).collect()
}

/// Returns a name in quotation marks, which it cannot contain, at most `width` columns in all.
pub fn quoted(name: &str, width: usize) -> String {
    let name = name.replace('"', "'");
    format!("\"{}\"", exact_line(&name, width.saturating_sub(2), Spaces::Single))
}

/// Returns the lines of a text with a bar before each line, which no other text in a question contains. A line longer than
/// `width` columns is broken, and its rest begins with another mark; many consecutive spaces are replaced by their count.
pub fn framed(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim_end_matches('\n').split('\n') {
        let mut shown = format!("{BAR} ");
        let mut room = width.saturating_sub(2);
        let mut rest = line;
        while !rest.is_empty() {
            let after_spaces = rest.trim_start_matches(' ');
            let spaces = rest.len() - after_spaces.len();
            let (piece, taken): (Vec<(String, usize)>, &str) = if spaces >= MANY_SPACES {
                let counted = format!(" {SPACES}×{spaces} ");
                let columns = counted.chars().map(columns).sum();
                (vec![(counted, columns)], after_spaces)
            } else {
                let end = rest.find(&" ".repeat(MANY_SPACES)).unwrap_or(rest.len());
                let (before, after) = rest.split_at(end);
                (characters(before).collect(), after)
            };
            for (piece, columns) in piece {
                if columns > room {
                    lines.push(shown);
                    shown = format!("{BAR} {BROKEN} ");
                    room = width.saturating_sub(4);
                }
                shown.push_str(&piece);
                room = room.saturating_sub(columns);
            }
            rest = taken;
        }
        lines.push(shown);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Default_Ignorable_Code_Point`, from DerivedCoreProperties.txt of Unicode 17.
    const DEFAULT_IGNORABLE: [(u32, u32); 17] = [
        (0xad, 0xad),
        (0x34f, 0x34f),
        (0x61c, 0x61c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];

    /// General categories Zs without U+0020, Zl, Zp, Cf and Co of Unicode 17, and blank characters of other categories.
    const BLANK: [(u32, u32); 29] = [
        (0x0, 0x9),
        (0xb, 0x1f),
        (0x7f, 0xa0),
        (0x600, 0x605),
        (0x6dd, 0x6dd),
        (0x70f, 0x70f),
        (0x890, 0x891),
        (0x8e2, 0x8e2),
        (0x1680, 0x1680),
        (0x180e, 0x180e),
        (0x2000, 0x200a),
        (0x2028, 0x2029),
        (0x202f, 0x202f),
        (0x205f, 0x205f),
        (0x2800, 0x2800),
        (0x3000, 0x3000),
        (0xe000, 0xf8ff),
        (0xfff9, 0xfffc),
        (0x110bd, 0x110bd),
        (0x110cd, 0x110cd),
        (0x13430, 0x1343f),
        (0x13441, 0x13442),
        (0x16fe4, 0x16fe4),
        (0x1d159, 0x1d159),
        (0xe0001, 0xe0001),
        (0xe0020, 0xe007f),
        (0xe0100, 0xe01ef),
        (0xf0000, 0xffffd),
        (0x100000, 0x10fffd),
    ];

    #[test]
    fn nothing_hides_in_what_a_user_is_asked() {
        for (first, last) in DEFAULT_IGNORABLE.into_iter().chain(BLANK) {
            for c in (first..=last).filter_map(char::from_u32) {
                let written = format!("\\u{{{:x}}}", u32::from(c));
                let text = format!("a{c}b");
                let within = format!("a{written}b");
                assert_eq!(exact(&text), within);
                assert_eq!(framed(&text, 36), [format!("│ {within}")]);
                if !"\t\r".contains(c) {
                    assert_eq!(quoted(&text, 36), format!("\"{within}\""));
                }
            }
        }
    }

    #[test]
    fn what_shows_stays() {
        for text in [" ~!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}", "äß€Ω中文한글ひ🔍é", "a\nb"]
        {
            assert_eq!(exact(text), text);
        }
        assert_eq!(exact("a\u{202e}b\u{200b}c\u{1b}[1m"), "a\\u{202e}b\\u{200b}c\\u{1b}[1m");
        assert_eq!(exact("\\u{41} \\n"), "\\u{5c}u{41} \\n");
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(HIDDEN.iter().all(|(first, last)| first <= last));
        assert!(HIDDEN.windows(2).all(|pair| matches!(pair, [a, b] if a.1 < b.0)));
    }

    #[test]
    fn a_name_is_one_short_line() {
        assert_eq!(quoted("Plan the work", 16), "\"Plan the work\"");
        assert_eq!(quoted(" Plan\n\nthe  work, and more", 16), "\"Plan the wor…\"");
        assert_eq!(quoted("a\" runs: \"x", 16), "\"a' runs: 'x\"");
        assert_eq!(quoted(&"\u{2800}".repeat(4000), 16), "\"\\u{2800}…\"");
        assert_eq!(quoted("Plan\n│ npm test\n→ No", 40), "\"Plan \\u{2502} npm test → No\"");
        assert_eq!(quoted(&"中".repeat(40), 10), "\"中中中…\"");
    }

    #[test]
    fn a_frame_has_a_bar_before_every_line() {
        assert_eq!(framed("npm test\n", 38), ["│ npm test"]);
        assert_eq!(framed("a\n\tb      c", 38), ["│ a", "│ \\u{9}b ␣×6 c"]);
        assert_eq!(
            framed("a\n\n│ b ↪ ␣×6\r\n", 38),
            ["│ a", "│ ", "│ \\u{2502} b \\u{21aa} \\u{2423}×6\\u{d}"]
        );
        assert_eq!(framed(&"x".repeat(36), 38), [format!("│ {}", "x".repeat(36))]);
        let broken = [format!("│ {}", "x".repeat(36)), "│ ↪ x".to_owned()];
        assert_eq!(framed(&"x".repeat(37), 38), broken);
        let wide = framed(&"中\u{2800} ".repeat(100), 38);
        assert!(wide.iter().all(|line| line.starts_with("│ ")));
        assert!(wide.iter().all(|line| line.chars().map(columns).sum::<usize>() <= 38 + 2));
    }
}
