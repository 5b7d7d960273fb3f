//! Models and thinking levels: the field `model`, and the user's aliases.
//!
//! A name with `/` is that of a model, `PROVIDER/ID`. A name without `/` is an alias: the user's settings tell the models
//! that it stands for. A project has no settings, so a repository can name `strong` without a say in who is paid for it.
//! After each there may be `:LEVEL`; a level alone is one for the user's model.

use crate::sorted::Map;
use serde::Serialize;
use std::fmt;

use super::nearest::nearest;

/// `model` as it stands in one place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnModel {
    /// The names of models, in the order of preference; empty without `model`.
    pub names: Vec<String>,
    /// The names stand in the entry of a phase, not in its file.
    pub of_entry: bool,
}

impl OwnModel {
    pub fn is_given(&self) -> bool {
        !self.names.is_empty()
    }

    /// Returns the setting that holds where this one stands within another one.
    #[must_use]
    pub fn within(self, outer: &Self) -> Self {
        if self.is_given() { self } else { outer.clone() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl Thinking {
    /// All levels, the lowest first.
    pub const ALL: [Self; 7] = [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// Returns pi's name of the level.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    pub(crate) fn nearest(name: &str) -> Option<String> {
        nearest(name, Self::ALL.map(Self::name)).map(Into::into)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Model {
    pub provider: String,
    /// Its name at the provider.
    pub id: String,
}

/// `PROVIDER/ID`.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.id)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelSetting {
    pub model: Model,
    /// The thinking level; `None` leaves the choice to pi.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
}

/// `PROVIDER/ID:LEVEL`, without the level `off`.
impl fmt::Display for ModelSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.model)?;
        match self.thinking {
            None | Some(Thinking::Off) => Ok(()),
            Some(level) => write!(f, ":{}", level.name()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownModel {
    pub model: Model,
    /// The user has a key for the model.
    pub available: bool,
    /// pi has a price for the model.
    pub priced: bool,
    /// The size of the context window in tokens; 0 if pi does not know the size.
    pub context_window: u32,
}

/// The user's aliases, with the names of models that each stands for.
pub type Aliases = Map<String, Vec<String>>;

/// Returns the model that a name means, and the level behind the name, as pi's `--model` reads a complete name. Ids and
/// names of providers may contain `/` and `:`, so the models that pi knows decide how a name is divided:
///
/// 1. the whole name is `PROVIDER/ID` of a model, or the id of exactly one model or of exactly one available model;
/// 2. the part behind the last `:` is a level, and the rest is a name of the first or second kind.
///
/// Case is ignored unless it tells models apart.
pub fn find<'a>(name: &str, models: &'a [KnownModel]) -> Option<(&'a KnownModel, Option<Thinking>)> {
    if let Some(known) = find_exact(name, models) {
        return Some((known, None));
    }
    let (name, level) = name.rsplit_once(':')?;
    let level = Thinking::from_name(level)?;
    find(name, models).map(|(known, inner)| (known, inner.or(Some(level))))
}

fn find_exact<'a>(name: &str, models: &'a [KnownModel]) -> Option<&'a KnownModel> {
    let is_full = |known: &&KnownModel| known.model.to_string().eq_ignore_ascii_case(name);
    let is_id = |known: &&KnownModel| known.model.id.eq_ignore_ascii_case(name);
    let full = models.iter().find(|known| known.model.to_string() == name);
    let full = full.or_else(|| only(models.iter().filter(is_full)));
    let of_id = models.iter().filter(is_id);
    let of_id = only(of_id.clone()).or_else(|| only(of_id.filter(|known| known.available)));
    // A model without a key gives way to an available model whose id is the whole name.
    match (full, of_id) {
        (Some(full), Some(of_id)) if of_id.available && !full.available => Some(of_id),
        (full, of_id) => full.or(of_id),
    }
}

/// Divides a name without `/`: an alias, and the level after it. The alias is empty for a level of the user's model.
pub(crate) fn divided<'a>(name: &'a str, aliases: &Aliases) -> (&'a str, Option<Thinking>) {
    let whole = (name, None);
    if aliases.contains_key(name) {
        return whole;
    }
    let parts = name.rsplit_once(':').and_then(|(alias, level)| Some((alias, Some(Thinking::from_name(level)?))));
    parts.unwrap_or(whole)
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// The reason why a name gives no model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    NoAlias(String),
    /// pi does not know the model.
    Unknown(String),
    /// The user has no key for the model.
    NoKey(String),
}

/// Returns the first usable model of some names, with the level; or the reason why each name is not usable. `user` is the
/// user's model.
pub fn choose(
    names: &[String],
    aliases: &Aliases,
    models: &[KnownModel],
    user: Option<&Model>,
) -> Result<ModelSetting, Vec<Unavailable>> {
    let mut unavailable = Vec::new();
    for name in names {
        let (alias, level) = divided(name, aliases);
        let (candidates, level) = match (aliases.get(alias), user) {
            _ if name.contains('/') => (std::slice::from_ref(name), None),
            (Some(candidates), _) => (&**candidates, level),
            (None, Some(user)) if alias.is_empty() => return Ok(ModelSetting { model: user.clone(), thinking: level }),
            (None, _) => {
                unavailable.push(Unavailable::NoAlias(alias.to_owned()));
                continue;
            }
        };
        for candidate in candidates {
            match find(candidate, models) {
                Some((known, thinking)) if known.available => {
                    return Ok(ModelSetting { model: known.model.clone(), thinking: level.or(thinking) });
                }
                Some(_) => unavailable.push(Unavailable::NoKey(candidate.clone())),
                None => unavailable.push(Unavailable::Unknown(candidate.clone())),
            }
        }
    }
    Err(unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(models: &[(&str, &str, bool)]) -> Vec<KnownModel> {
        let known = |&(provider, id, available): &(&str, &str, bool)| KnownModel {
            model: Model { provider: provider.into(), id: id.into() },
            available,
            priced: true,
            context_window: 0,
        };
        models.iter().map(known).collect()
    }

    #[test]
    fn a_name_is_divided_as_pi_does() {
        let models = known(&[
            ("anthropic", "claude-opus-4-5", true),
            ("openrouter", "openai/gpt-4o:extended", true),
            ("openrouter", "openai/gpt-5", true),
            ("openai", "gpt-5", false),
            ("openai", "gpt-4o", true),
            ("https://host/v1", "local:8b", true),
            ("a", "x", true),
            ("b", "x", true),
            ("c", "z/y", false),
            ("d", "z/y", true),
        ]);
        let found = |name: &str| {
            let (known, level) = find(name, &models)?;
            Some((known.model.to_string(), level))
        };
        for (name, model, level) in [
            ("anthropic/claude-opus-4-5", "anthropic/claude-opus-4-5", None),
            ("Anthropic/Claude-Opus-4-5", "anthropic/claude-opus-4-5", None),
            ("anthropic/claude-opus-4-5:high", "anthropic/claude-opus-4-5", Some(Thinking::High)),
            ("openrouter/openai/gpt-4o:extended", "openrouter/openai/gpt-4o:extended", None),
            ("openai/gpt-4o:extended", "openrouter/openai/gpt-4o:extended", None),
            ("openai/gpt-4o:extended:max", "openrouter/openai/gpt-4o:extended", Some(Thinking::Max)),
            ("openai/gpt-4o", "openai/gpt-4o", None),
            // The user has no key for the model of this provider.
            ("openai/gpt-5", "openrouter/openai/gpt-5", None),
            ("https://host/v1/local:8b", "https://host/v1/local:8b", None),
            ("https://host/v1/local:8b:off", "https://host/v1/local:8b", Some(Thinking::Off)),
            ("z/y", "d/z/y", None),
        ] {
            assert_eq!(found(name), Some((model.to_owned(), level)), "{name}");
        }
        for name in ["anthropic/claude", "anthropic/claude-opus-4-5:hgih", "x", "e/x", "/", ":", ""] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn the_first_model_with_a_key_is_chosen() {
        let models = known(&[("a", "one", false), ("b", "two", true), ("b", "three", true)]);
        let strong = ["a/one:high", "b/two:low"].map(ToOwned::to_owned).to_vec();
        let aliases: Aliases = [("strong".to_owned(), strong), ("none".to_owned(), Vec::new())].into();
        let choose = |list: &[&str]| {
            let names: Vec<String> = list.iter().map(|&name| name.to_owned()).collect();
            choose(&names, &aliases, &models, Some(&models[2].model)).map(|chosen| chosen.to_string())
        };
        assert_eq!(choose(&["strong", "b/three"]), Ok("b/two:low".into()));
        assert_eq!(choose(&["fast", "b/three"]), Ok("b/three".into()));
        assert_eq!(choose(&["strong:max", "b/three"]), Ok("b/two:max".into()));
        assert_eq!(choose(&["fast:max", ":high"]), Ok("b/three:high".into()));
        assert_eq!(choose(&[":off", "strong"]), Ok("b/three".into()));
        let unavailable = vec![
            Unavailable::NoAlias("fast".into()),
            Unavailable::NoKey("a/one".into()),
            Unavailable::Unknown("a/four".into()),
        ];
        assert_eq!(choose(&["fast:low", "a/one", "none", "a/four"]), Err(unavailable));
    }

    #[test]
    fn the_levels_are_those_of_pi() {
        let names = Thinking::ALL.map(Thinking::name);
        assert_eq!(names, ["off", "minimal", "low", "medium", "high", "xhigh", "max"]);
        for level in Thinking::ALL {
            assert_eq!(serde_json::to_value(level).unwrap(), level.name());
            assert_eq!(Thinking::from_name(level.name()), Some(level));
        }
    }
}
