//! The notices about the rules of a run when it starts.

use crate::definition::Library;
use crate::engine::context::Cx;
use crate::engine::effect::Level;
use crate::text;

/// Tells the user the rules of a run of a workflow, and the names in them that no tool has.
pub(super) fn tell(library: &Library, key: &str, cx: &mut Cx) {
    if cx.gone {
        return;
    }
    let line = text::rules_in_a_line(library, key);
    let tools = cx.unless_gone(cx.host.tools().map(Some));
    let unknown = tools.and_then(|tools| text::unknown_tools(library, key, tools));
    for (level, notice) in [(Level::Warning, unknown), (Level::Info, line)] {
        notice.into_iter().for_each(|notice| cx.notify(level, notice));
    }
}
