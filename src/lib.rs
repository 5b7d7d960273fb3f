//! Workflows for the pi coding agent.
//!
//! A workflow is a list of phases, each a Markdown file with instructions and a tool policy. The
//! engine in this crate makes an agent work through them one at a time. It is built as a
//! WebAssembly component that imports pi's extension interface (`wit/extension.wit`) and nothing
//! else.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`definition`] | the definition of a workflow, and its reading from files |
//! | [`run`] | a workflow in progress: its state, its transitions, its stored form |
//! | [`text`] | the texts for users and models |
//! | [`watch`] | the events of a run for programs that watch it |
//! | [`engine`] | events in, effects out |
//! | [`protocol`] | names of entries, messages, the tool and the commands; below all that use them |
//! | [`usage`] | the usage of a part of a run |
//! | [`sorted`] | maps and sets as sorted lists |
//! | `component` | the only place that knows the WIT interface |
//!
//! Nothing but `component` does I/O: time, randomness and files come in with the call.

#![cfg_attr(target_arch = "wasm32", allow(unused_imports, reason = "modules export what tests alone use, too"))]

// Tests, fuzz targets and benchmarks see these modules. In the component the modules are private, so that the compiler
// finds code that nothing uses.
#[cfg(not(target_arch = "wasm32"))]
pub mod definition;
#[cfg(not(target_arch = "wasm32"))]
pub mod engine;
#[cfg(not(target_arch = "wasm32"))]
pub mod protocol;
#[cfg(not(target_arch = "wasm32"))]
pub mod run;
#[cfg(not(target_arch = "wasm32"))]
pub mod sorted;
#[cfg(not(target_arch = "wasm32"))]
pub mod text;
#[cfg(not(target_arch = "wasm32"))]
pub mod usage;
#[cfg(not(target_arch = "wasm32"))]
pub mod watch;

#[cfg(target_arch = "wasm32")]
mod component;
#[cfg(target_arch = "wasm32")]
mod definition;
#[cfg(target_arch = "wasm32")]
mod engine;
#[cfg(target_arch = "wasm32")]
mod protocol;
#[cfg(target_arch = "wasm32")]
mod run;
#[cfg(target_arch = "wasm32")]
mod sorted;
#[cfg(target_arch = "wasm32")]
mod text;
#[cfg(target_arch = "wasm32")]
mod usage;
#[cfg(target_arch = "wasm32")]
mod watch;
