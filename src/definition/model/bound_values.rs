//! Bounds: a fixed amount, or the value of an input of the workflow.

use std::fmt;

/// A bound: a fixed amount, or an input of the workflow that gives the amount.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BoundValue<T> {
    Fixed(T),
    /// The value of the input of this name.
    Input(String),
}

impl<T: fmt::Display> fmt::Display for BoundValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(amount) => amount.fmt(f),
            Self::Input(name) => write!(f, "input.{name}"),
        }
    }
}

impl<T> BoundValue<T> {
    /// Returns the name of the input that gives the amount, if one does.
    pub fn input(&self) -> Option<&str> {
        if let Self::Input(name) = self { Some(name) } else { None }
    }
}

impl BoundValue<u32> {
    /// Returns the amount of the bound; `value_of` returns the value of an input. A fraction is rounded down.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn resolve(&self, value_of: impl Fn(&str) -> f64) -> u32 {
        match self {
            Self::Fixed(count) => *count,
            Self::Input(name) => value_of(name) as u32,
        }
    }

    /// Returns a time limit in milliseconds, at least 1; the value of an input is in seconds.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    pub fn milliseconds(&self, value_of: impl Fn(&str) -> f64) -> u32 {
        match self {
            Self::Fixed(milliseconds) => *milliseconds,
            Self::Input(name) => ((value_of(name) * 1e3).round() as u32).max(1),
        }
    }
}

impl<T> From<T> for BoundValue<T> {
    fn from(amount: T) -> Self {
        Self::Fixed(amount)
    }
}
