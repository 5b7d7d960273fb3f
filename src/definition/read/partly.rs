//! Values that are read in spite of errors in them.

/// A value without errors, or what could be read of one with errors, which are reported.
pub(crate) type Partly<T> = Result<T, T>;

/// Those that could be read.
pub(crate) fn all<T>(items: impl IntoIterator<Item = Option<T>>) -> Partly<Vec<T>> {
    let mut sound = true;
    let items = items.into_iter().inspect(|item| sound &= item.is_some()).flatten().collect();
    if sound { Ok(items) } else { Err(items) }
}

/// Every one, also those with errors.
pub(crate) fn each<T>(items: impl IntoIterator<Item = Partly<T>>) -> Partly<Vec<T>> {
    let mut whole = Whole::default();
    let items = items.into_iter().map(|item| whole.part(item)).collect();
    whole.of(items)
}

/// Puts something together from its parts, and notes errors in them.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    has_errors: bool,
}

impl Whole {
    /// Takes a part, or another value instead if it could not be read.
    pub fn take<T>(&mut self, part: Option<T>, instead: T) -> T {
        self.has_errors |= part.is_none();
        part.unwrap_or(instead)
    }

    /// Takes what could be read of a part.
    pub fn part<T>(&mut self, part: Partly<T>) -> T {
        self.has_errors |= part.is_err();
        match part {
            Ok(part) | Err(part) => part,
        }
    }

    /// Returns what was put together.
    pub fn of<T>(&self, value: T) -> Partly<T> {
        if self.has_errors { Err(value) } else { Ok(value) }
    }
}
