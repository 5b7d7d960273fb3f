//! Workflows for the pi coding agent.
//!
//! A workflow is a list of phases, each a Markdown file with instructions and a tool policy. The
//! engine in this crate makes an agent work through them one at a time. It is built as a
//! WebAssembly component that imports pi's extension interface (`wit/extension.wit`) and nothing
//! else.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`definition`] | what a workflow is, and how it is read from files |
//! | [`run`] | a workflow in progress: its state, its transitions, its stored form |
//! | [`text`] | what users and models read |
//! | [`engine`] | events in, effects out |
//! | [`protocol`] | names of entries, messages, the tool and the commands; below all that use them |
//! | [`usage`] | what a part of a run took |
//! | [`sorted`] | maps and sets as sorted lists |
//! | `component` | the only place that knows the WIT interface |
//!
//! Nothing but `component` does I/O: time, randomness and files come in with the call.

#![cfg_attr(
    target_arch = "wasm32",
    allow(unused_imports, reason = "modules export what tests alone use, too")
)]

/// Declares modules that tests, fuzz targets and benchmarks see. In the component they are private, so that the compiler finds
/// code that nothing uses.
macro_rules! modules {
    ($($name:ident)*) => { $(
        #[cfg(not(target_arch = "wasm32"))]
        pub mod $name;
        #[cfg(target_arch = "wasm32")]
        mod $name;
    )* };
}

modules! { definition engine protocol run sorted text usage }

#[cfg(target_arch = "wasm32")]
mod component;
