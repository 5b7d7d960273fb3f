//! Texts from files in questions to the user: every character is visible, and no text can imitate the words of this
//! package.

/// Characters that are invisible, look like a blank, change the order of other characters, or have no agreed
/// appearance: Unicode's `Default_Ignorable_Code_Point`, general categories Cc, Cf, Co, Zl, Zp, Zs without U+0020, and
/// the blank characters of other categories. Sorted.
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

/// Returns true if a character is written out as its code point.
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
        let looks_written_out = c == '\\' && text.get(at..).is_some_and(|rest| rest.starts_with("\\u{"));
        if is_hidden(c) || looks_written_out {
            let written = c.escape_unicode().to_string();
            let columns = written.len();
            (written, columns)
        } else {
            (c.to_string(), columns(c))
        }
    })
}

/// Returns a text in which every character is visible: line ends stay, all other hidden characters are written out as
/// code points (`\u{2800}`).
pub fn exact(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| characters(line).map(|(shown, _)| shown).collect()).collect();
    lines.join("\n")
}

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

/// Returns the lines of a text with a bar before each, which no other text in a question contains; many consecutive
/// spaces are replaced by their count. [`wrapped`] breaks the lines at the width at which they are shown.
pub fn framed(text: &str) -> Vec<String> {
    text.trim_end_matches('\n').split('\n').map(framed_line).collect()
}

fn framed_line(line: &str) -> String {
    let mut shown = format!("{BAR} ");
    let mut rest = line;
    while !rest.is_empty() {
        let after_spaces = rest.trim_start_matches(' ');
        let spaces = rest.len() - after_spaces.len();
        if spaces >= MANY_SPACES {
            shown.push_str(&format!(" {SPACES}×{spaces} "));
            rest = after_spaces;
        } else {
            let end = rest.find(&" ".repeat(MANY_SPACES)).unwrap_or(rest.len());
            let (before, after) = rest.split_at(end);
            shown.extend(characters(before).map(|(shown, _)| shown));
            rest = after;
        }
    }
    shown
}

/// Returns a line of [`framed`] as lines of at most `width` columns, each with a bar; a line without a bar is returned
/// as it is. The line is broken before a space, a word only if it does not fit. The rest of a broken line, its space
/// included, follows directly after the mark `↪`.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    let Some(content) = line.strip_prefix(BAR).and_then(|line| line.strip_prefix(' ')) else {
        return vec![line.to_owned()];
    };
    folded(content, &format!("{BAR} "), &format!("{BAR} {BROKEN}"), width)
}

/// Returns a text in lines of at most `width` columns, broken at spaces where there are any; `first` begins the first
/// line, `next` the others.
pub fn folded(text: &str, first: &str, next: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut mark = first.to_owned();
    let units = units(text);
    let mut rest = &*units;
    loop {
        let mut room = width.saturating_sub(mark.chars().count());
        let fitting = rest.iter().take_while(|unit| {
            let left = room.checked_sub(unit.chars().map(columns).sum());
            room = left.unwrap_or(0);
            left.is_some()
        });
        let fitting = fitting.count();
        if fitting == rest.len() {
            lines.push(mark + &rest.concat());
            return lines;
        }
        let is_space = |at: usize| rest.get(at).is_some_and(|unit| unit.starts_with(' '));
        let before_space = (1..=fitting).rev().find(|at| is_space(*at) && !is_space(at - 1));
        let (broken, after) = rest.split_at(before_space.unwrap_or(fitting).max(1));
        lines.push(mark + &broken.concat());
        mark = next.to_owned();
        rest = after;
    }
}

/// Returns the unbreakable parts of a framed line: a character, a written-out character, or a number of spaces.
fn units(mut content: &str) -> Vec<&str> {
    let mut units = Vec::new();
    while let Some(first) = content.chars().next() {
        let written_out = content.strip_prefix("\\u{").and_then(|rest| rest.find('}')).map(|at| at + 4);
        let counted = content.strip_prefix(" ␣×").and_then(|rest| {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            Some(content.len() - rest.get(digits..)?.strip_prefix(' ')?.len())
        });
        let length = written_out.or(counted).unwrap_or(first.len_utf8());
        let (unit, rest) = content.split_at(length);
        units.push(unit);
        content = rest;
    }
    units
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
                assert_eq!(framed(&text), [format!("│ {within}")]);
                if !"\t\r".contains(c) {
                    assert_eq!(quoted(&text, 36), format!("\"{within}\""));
                }
            }
        }
    }

    #[test]
    fn what_shows_stays() {
        for text in [" ~!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}", "äß€Ω中文한글ひ🔍é", "a\nb"] {
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
        assert_eq!(framed("npm test\n"), ["│ npm test"]);
        assert_eq!(framed("a\n\tb      c"), ["│ a", "│ \\u{9}b ␣×6 c"]);
        assert_eq!(framed("a\n\n│ b ↪ ␣×6\r\n"), ["│ a", "│ ", "│ \\u{2502} b \\u{21aa} \\u{2423}×6\\u{d}"]);
    }

    #[track_caller]
    fn assert_wrapped(text: &str, width: usize, expected: &[&str]) {
        let lines: Vec<String> = framed(text).iter().flat_map(|line| wrapped(line, width)).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_line_is_broken_before_a_space() {
        assert_wrapped("npm test", 12, &["│ npm test"]);
        assert_wrapped("npm test", 9, &["│ npm", "│ ↪ test"]);
        assert_wrapped("a  b  cccc", 9, &["│ a  b", "│ ↪  cccc"]);
        assert_wrapped("   aaaaaaaaaa", 10, &["│    aaaaa", "│ ↪aaaaa"]);
        assert_wrapped("make      all", 12, &["│ make", "│ ↪ ␣×6 al", "│ ↪l"]);
        assert_wrapped("ls \u{2800}\u{2800}", 12, &["│ ls", "│ ↪ \\u{2800}", "│ ↪\\u{2800}"]);
        assert_wrapped("", 2, &["│ "]);
        assert_eq!(wrapped("no frame, but a long line", 8), ["no frame, but a long line"]);
    }

    /// Returns the line before it was wrapped.
    fn joined(lines: &[String]) -> String {
        let mut lines = lines.iter();
        let first = lines.next().cloned().unwrap_or_default();
        lines.fold(first, |all, line| all + line.strip_prefix("│ ↪").unwrap())
    }

    #[test]
    fn a_broken_line_is_exact_at_every_width() {
        let texts = [
            "npm run a-script-with-a-long-name -- --all   --strict && rm -rf target/debug",
            "      a     b ↪ c│d \\u{41} \u{2800}\u{2800} ␣×6 x",
            "中文한글ひ🔍é\u{301}    中文",
            &"x".repeat(300),
            &"中\u{2800} ".repeat(100),
            " ␣×",
            "",
        ];
        for text in texts {
            let [line] = &framed(text)[..] else { panic!("{text}") };
            for width in 0..120 {
                let lines = wrapped(line, width);
                assert_eq!(&joined(&lines), line, "{width}");
                assert!(lines.iter().all(|line| line.starts_with("│ ")));
                // The marks have one column.
                let fits = |line: &String| line.chars().map(columns).sum::<usize>() <= width + 2;
                assert!(width < 20 || lines.iter().all(fits), "{width}: {lines:?}");
            }
        }
    }
}
