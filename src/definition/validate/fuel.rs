//! The fuel of one load: a bound of the work of its validation. Files decide the amount of work; a workflow without fuel
//! has the error "too large to check".

use std::cell::Cell;

use crate::definition::model::{Phase, Workflow, nearest_within};

/// The fuel of every workflow, and its additional fuel for each entry and each check of a gate.
const BASE: usize = 20_000;
const EACH: usize = 2_000;

/// The fuel that all workflows share beyond their own, and the largest part of it for one workflow.
const SHARED: usize = 200_000_000;
const MOST: usize = 50_000_000;

/// Letters that all suggestions together may compare. After that, problems have no suggestions.
const LETTERS: usize = 50_000_000;

/// Fuel for validation; a unit is a name that is looked at, a part of a path, or 100 bytes of a text.
pub(crate) struct Fuel {
    /// The remaining fuel of the current workflow: its own, and its part of the shared fuel.
    own: Cell<usize>,
    extra: Cell<usize>,
    shared: Cell<usize>,
    letters: Cell<usize>,
    is_over: Cell<bool>,
    spent: Cell<usize>,
}

impl Fuel {
    pub fn new() -> Self {
        Self::with(SHARED, LETTERS)
    }

    /// Creates fuel with this number of shared units and letters.
    pub fn with(shared: usize, letters: usize) -> Self {
        Self {
            own: Cell::new(0),
            extra: Cell::new(0),
            shared: Cell::new(shared),
            letters: Cell::new(letters),
            is_over: Cell::new(false),
            spent: Cell::new(0),
        }
    }

    /// Begins the validation of a workflow and of the groups in its file.
    pub fn begin<'a>(&self, file: impl IntoIterator<Item = &'a Workflow>) {
        let checks = |phase: &Phase| phase.gate.as_ref().map_or(0, |gate| gate.checks.len());
        let size = |of: &Workflow| of.phases.len() + of.own_phases().map(checks).sum::<usize>();
        let size: usize = file.into_iter().map(size).sum();
        self.own.set(EACH.saturating_mul(size).saturating_add(BASE));
        self.extra.set(MOST);
        self.is_over.set(false);
    }

    /// Spends fuel before the work is done. Returns false if the workflow has too little.
    pub fn spend(&self, units: usize) -> bool {
        let beyond = units.saturating_sub(self.own.get());
        let fits = !self.is_over.get() && beyond <= self.extra.get().min(self.shared.get());
        if !fits {
            self.is_over.set(true);
            return false;
        }
        self.own.set(self.own.get().saturating_sub(units));
        self.extra.set(self.extra.get() - beyond);
        self.shared.set(self.shared.get() - beyond);
        self.spent.set(self.spent.get().saturating_add(units));
        true
    }

    /// Spends the fuel for reading a text.
    pub fn spend_on(&self, text: &str) -> bool {
        self.spend(1 + text.len() / 100)
    }

    /// Returns true if the workflow has no fuel left: its validation is not complete.
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Like [`nearest`](crate::definition::model::nearest()); `None` without remaining letters.
    pub fn nearest<'a>(&self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        nearest_within(word, known, &mut |letters| {
            let left = self.letters.get().checked_sub(letters);
            self.letters.set(left.unwrap_or(0));
            self.spent.set(self.spent.get().saturating_add(left.map_or(0, |_| letters)));
            left.is_some()
        })
    }

    /// Returns the spent units, including the letters that were compared.
    #[cfg(test)]
    pub fn spent(&self) -> usize {
        self.spent.get()
    }
}
