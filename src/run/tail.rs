//! The end of an output that is too long for its readers.

/// The text in the place of the middle of a long line.
const GAP: &str = " … ";
/// The bytes that the file of an output has at most.
const MAX_FILE: u64 = 10_000_000;

/// The end of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tail {
    pub text: String,
    /// The bytes of the output that the text lacks.
    pub missing: u64,
}

impl Tail {
    /// The last lines of an output that lacks `missing` bytes already: at most `lines`, with `room` characters in all. Where this is not
    /// the whole output, lines of more than a quarter of the room are shortened.
    pub fn of(output: &str, missing: u64, room: usize, lines: usize) -> Self {
        let output = output.trim_end();
        if length(output) <= room && output.lines().count() <= lines {
            return Self { text: output.to_owned(), missing };
        }
        let (mut kept, mut left, mut bytes) = (Vec::new(), room, 0);
        for line in output.rsplit('\n').take(lines) {
            let shown = shortened(line, room / 4);
            let Some(rest) = left.checked_sub(length(&shown) + 1) else { break };
            left = rest;
            bytes += shown.len() + 1;
            kept.push(shown);
        }
        kept.reverse();
        let lost = (output.len() + 1).saturating_sub(bytes);
        Self { text: kept.join("\n"), missing: missing.saturating_add(lost as u64) }
    }

    /// The text, behind a line that says how much of the output is missing, and which file has all of it.
    pub fn noted(&self, file: &str) -> String {
        note(self.missing, file) + &self.text
    }
}

/// The line that says how much of an output is missing before its end; empty if nothing is. `file` has the output, unless it is empty.
pub fn note(missing: u64, file: &str) -> String {
    let of_it = if missing < MAX_FILE { "all of it" } else { "its beginning" };
    match (missing, file) {
        (0, _) => String::new(),
        (_, "") => format!("… ({missing} bytes before)\n"),
        _ => format!("… ({missing} bytes before; {of_it}: {file})\n"),
    }
}

/// The characters of a text, of which a byte is at least a third.
fn length(text: &str) -> usize {
    text.chars().count().max(text.len().div_ceil(3))
}

fn shortened(line: &str, room: usize) -> String {
    let characters: Vec<char> = line.chars().collect();
    if characters.len() <= room {
        return line.to_owned();
    }
    let half = room.saturating_sub(GAP.len()) / 2;
    let (start, end) = (characters.iter().take(half), characters.iter().skip(characters.len() - half));
    start.chain(GAP.chars().collect::<Vec<_>>().iter()).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole() {
        for output in ["", "a", "a\nb\n\n", &"x".repeat(100)] {
            assert_eq!(Tail::of(output, 0, 100, 3), Tail { text: output.trim_end().to_owned(), missing: 0 });
        }
        assert_eq!(Tail::of("a", 7, 100, 3).noted("f"), "… (7 bytes before; all of it: f)\na");
        assert_eq!(Tail::of("a", 10_000_000, 100, 3).noted("f"), "… (10000000 bytes before; its beginning: f)\na");
        assert_eq!(Tail::of("a", 7, 100, 3).noted(""), "… (7 bytes before)\na");
        assert_eq!(Tail::of("a", 0, 100, 3).noted("f"), "a");
    }

    #[test]
    fn the_last_lines_are_kept() {
        let tail = Tail::of("one\ntwo\nthree\n", 5, 100, 2);
        assert_eq!(tail, Tail { text: "two\nthree".into(), missing: 5 + 4 });
        let lines = |count| "twelve chars\n".repeat(count);
        let tail = Tail::of(&lines(9), 0, 60, 99);
        assert_eq!(tail, Tail { text: lines(4).trim_end().to_owned(), missing: lines(5).len() as u64 });
    }

    #[test]
    fn a_long_line_leaves_room_for_others() {
        for sign in ["x", "ü", "€", "😀"] {
            let long = sign.repeat(300_000);
            let Tail { text, missing } = Tail::of(&format!("before\n{long}\nafter"), 0, 400, 40);
            let short = format!("before\n{0}{GAP}{0}\nafter", sign.repeat(47));
            assert_eq!((text, missing as usize), (short, long.len() - 94 * sign.len() - GAP.len()));
        }
    }
}
