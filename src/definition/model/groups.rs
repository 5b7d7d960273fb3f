//! Groups. Names of values hold in the whole file, across its groups.

use std::borrow::Cow;

use super::library::Library;
use super::parallel::Parallel;
use super::paths::group_key;
use super::value_type::{Output, ValueType};
use super::values::{Each, ValueName};
use super::workflow::{Entry, Group, Workflow, output_of};

/// An entry of a file: of a workflow, or of a group in it.
#[derive(Debug, Clone)]
pub struct FileEntry<'a> {
    /// The indices of the entries that lead to the entry, its own index last. They give the order of the file.
    pub at: Vec<usize>,
    pub entry: &'a Entry,
}

impl FileEntry<'_> {
    /// Returns true if the entry comes before the entry at the indices `at`, and does not contain that entry.
    pub fn is_before(&self, at: &[usize]) -> bool {
        self.at[..] < *at && !at.starts_with(&self.at)
    }
}

/// Returns the entries of the file of a workflow, in their order; a group comes before its entries.
pub(crate) fn entries_of_file<'a>(
    workflow: &'a Workflow,
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
) -> Vec<FileEntry<'a>> {
    let file = workflow.group.as_ref().and_then(|group| get(&group.file)).unwrap_or(workflow);
    let mut entries = Vec::with_capacity(file.phases.len());
    add(file, get, &mut entries);
    entries
}

fn add<'a>(scope: &'a Workflow, get: &dyn Fn(&str) -> Option<&'a Workflow>, entries: &mut Vec<FileEntry<'a>>) {
    for (index, entry) in scope.phases.iter().enumerate() {
        entries.push(FileEntry { at: scope.place_of(index), entry });
        if let Some(group) = entry.group_key().and_then(get) {
            add(group, get, entries);
        }
    }
}

/// The type of a value in a place of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypeOf<'a> {
    /// The type of the value, or of what each item of a group gives.
    kind: &'a ValueType,
    /// The greatest number of items of a list whose `max` is an input.
    most: Option<usize>,
    /// The place is outside of repeated groups whose items give the value, with at most this many items.
    items: Option<usize>,
}

/// Number of items from which on a list counts as having any number of them.
const MANY: usize = 10_000;

impl<'a> TypeOf<'a> {
    fn of(kind: &'a ValueType) -> Self {
        Self { kind, most: None, items: None }
    }

    /// Returns the type of the value, or of what each item gives.
    pub fn of_one(self) -> &'a ValueType {
        self.kind
    }

    /// Returns the type of the whole value: what items give is a list.
    pub fn whole(self) -> Cow<'a, ValueType> {
        let kind = match (self.kind, self.most) {
            (ValueType::List { min, fields, .. }, Some(max)) => {
                Cow::Owned(ValueType::List { min: *min, max, fields: fields.clone() })
            }
            (kind, _) => Cow::Borrowed(kind),
        };
        let (max, fields) = match (self.items, &*kind) {
            (None, _) => return kind,
            (Some(items), ValueType::List { max, fields, .. }) => (items.saturating_mul(*max), fields.clone()),
            (Some(items), _) => (items, Vec::new()),
        };
        Cow::Owned(ValueType::List { min: 0, max: max.min(MANY), fields })
    }
}

/// Returns the type of a value for the entry at the indices `at` in a file with the entries `all`; `None` if the
/// workflow does not have the value.
pub(crate) fn type_of<'a>(
    (workflow, at): (&'a Workflow, &[usize]),
    name: &ValueName,
    all: &[FileEntry<'a>],
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
) -> Option<TypeOf<'a>> {
    let (phase, name) = match name {
        ValueName::Input(name) => return Some(TypeOf::of(&workflow.input(name)?.kind)),
        ValueName::Output { phase, name } => (phase, name),
        ValueName::ItemField(name) => {
            let field = fields_of_item(workflow, all, get).into_iter().find(|field| field.name == *name)?;
            return Some(TypeOf::of(&field.kind));
        }
        _ => return Some(TypeOf::of(&ValueType::TEXT)),
    };
    let entries = all.iter().filter(|of| of.entry.id() == phase || of.entry.is_called(phase));
    let outputs: Vec<_> = entries.filter_map(|of| Some((of, output_of(of.entry, name, get)?))).collect();
    // Each of the entries can give the value: it is a command only if it is one of each entry.
    let other = outputs.iter().find(|(_, output)| output.kind != ValueType::Command);
    let (of, output) = match outputs.first()? {
        first if first.1.kind == ValueType::Command => other.unwrap_or(first),
        first => first,
    };
    let file = workflow.group.as_ref().map_or(&workflow.key, |group| &group.file);
    let around = (1..of.at.len()).filter_map(|depth| of.at.get(..depth)).filter(|group| !at.starts_with(group));
    let items = around.filter_map(|place| most_items(get(&group_key(file, place))?, all, get));
    let most = output.max_items.as_ref().map(|_| match output.resolved(|name| workflow.greatest(name)).kind {
        ValueType::List { max, .. } => max,
        _ => 0,
    });
    let items = items.reduce(|one, other| one.saturating_mul(other).min(MANY));
    Some(TypeOf { kind: &output.kind, most, items })
}

/// Returns the fields of the items of the innermost repeated group around the entries of a workflow or group: those that
/// are the same in all of its lists.
pub(crate) fn fields_of_item<'a>(
    workflow: &'a Workflow,
    all: &[FileEntry<'a>],
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
) -> Vec<&'a Output> {
    let Some(Group { file, at }) = &workflow.group else { return Vec::new() };
    let mut groups = (1..=at.len()).rev().filter_map(|depth| get(&group_key(file, at.get(..depth)?)));
    let group = groups.find(|group| group.each.is_some());
    let Some((group, Each::Of(names))) = group.and_then(|group| Some((group, group.each.as_ref()?))) else {
        return Vec::new();
    };
    let at = group.group.as_ref().map_or(&[][..], |group| &group.at);
    let of_list = |name: &ValueName| match type_of((group, at), name, all, get)?.kind {
        ValueType::List { fields, .. } => Some(&fields[..]),
        _ => None,
    };
    let mut lists = names.iter().filter_map(of_list);
    let first = lists.next().unwrap_or_default();
    let others: Vec<&[Output]> = lists.collect();
    let is_in_all = |field: &&Output| {
        others.iter().all(|fields| fields.iter().any(|other| other.name == field.name && other.kind == field.kind))
    };
    first.iter().filter(is_in_all).collect()
}

/// Returns the greatest number of items of a repeated group in a file with these entries; `None` for any other group.
pub(crate) fn most_items<'a>(
    group: &'a Workflow,
    all: &[FileEntry<'a>],
    get: &dyn Fn(&str) -> Option<&'a Workflow>,
) -> Option<usize> {
    let names = match group.each.as_ref()? {
        Each::Items(items) => return Some(items.len()),
        Each::Of(names) => names,
    };
    let at = group.group.as_ref().map_or(&[][..], |group| &group.at);
    let before: Vec<FileEntry> = all.iter().filter(|of| of.is_before(at)).cloned().collect();
    let mut most = 0;
    for name in names {
        most += match type_of((group, at), name, &before, get).map(TypeOf::whole).as_deref() {
            Some(ValueType::List { max, .. }) => *max,
            // The name is an error.
            _ => 1,
        };
        if most >= MANY {
            return Some(MANY);
        }
    }
    Some(most)
}

impl Workflow {
    /// Returns the indices that lead to the entry at `index` of this workflow from the beginning of its file.
    pub(crate) fn place_of(&self, index: usize) -> Vec<usize> {
        let at = self.group.iter().flat_map(|group| group.at.iter().copied());
        at.chain([index]).collect()
    }
}

impl Library {
    /// Returns the entries of the file of a workflow, see [`FileEntry`].
    pub fn entries_of_file<'a>(&'a self, workflow: &'a Workflow) -> Vec<FileEntry<'a>> {
        entries_of_file(workflow, &|key| self.get(key))
    }

    /// Returns the largest possible number of branches of a parallel group: the number of its entries, or of its items.
    pub fn most_branches(&self, group: &Workflow) -> u64 {
        let all = self.entries_of_file(group);
        let count =
            most_items(group, &all, &|key| self.get(key)).map_or(group.phases.len(), |most| most.min(Parallel::MAX));
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Returns the type of the value of this name in a workflow, or of what each item gives; `None` if the workflow does not have the value.
    pub fn type_of<'a>(&'a self, workflow: &'a Workflow, name: &ValueName) -> Option<&'a ValueType> {
        match name {
            ValueName::Input(name) => Some(&workflow.input(name)?.kind),
            ValueName::Output { phase, name } => Some(&self.output(workflow, phase, name)?.kind),
            ValueName::ItemField(name) => {
                let fields = fields_of_item(workflow, &self.entries_of_file(workflow), &|key| self.get(key));
                Some(&fields.into_iter().find(|field| field.name == *name)?.kind)
            }
            _ => Some(&ValueType::TEXT),
        }
    }

    /// Returns the output with this name of the entry with this id in the file of a workflow.
    pub fn output<'a>(&'a self, workflow: &'a Workflow, phase: &str, name: &str) -> Option<&'a Output> {
        let entries = self.entries_of_file(workflow).into_iter().map(|of| of.entry);
        entries.filter(|entry| entry.id() == phase).find_map(|entry| output_of(entry, name, &|key| self.get(key)))
    }
}
