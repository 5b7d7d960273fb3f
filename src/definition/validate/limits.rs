//! Warnings about limits without an effect, or with another effect than they seem to have.

use crate::sorted::Set;

use super::fuel::Fuel;
use crate::definition::diagnostic::{Anchored, LimitProblem, PathPart, Problem, WorkflowProblem, in_group};
use crate::definition::model::{
    COMMAND_TOOLS, CheckKind, EntryKind, FILE_TOOLS, Library, Limits, OwnLimits, Permission, Phase, RuleFile, Sandbox,
    Show, Stale, Surroundings, ToolPolicy, Workflow, WorkflowFiles, below, expansions, is_everything, is_glob,
    is_of_pi, means_tool, permission, resolve_fixed, split, with_names,
};

/// Reports the limits of all workflows.
pub(crate) fn report(
    library: &Library,
    surroundings: &Surroundings,
    host: &dyn WorkflowFiles,
    fuel: &Fuel,
    anchored: &mut Vec<Anchored>,
) -> Result<(), Stale> {
    let mut lint = LimitsLint { surroundings, host, fuel, anchored, seen: Set::new() };
    let mut used = Set::new();
    for workflow in library.scopes() {
        fuel.begin([workflow]);
        lint.workflow(workflow, &mut used)?;
        if fuel.is_over() {
            lint.report((&workflow.file(), &[]), WorkflowProblem::UncheckedCalls, &[PathPart::Key("phases")]);
        }
    }
    for (file, at) in library.scopes().flat_map(sandboxes) {
        // A workflow that is left out may have the phase too.
        if library.left_out().is_empty() && !used.contains(&(file.clone(), at.clone())) {
            lint.report((&file, &at), LimitProblem::UnusedSandbox, &[PathPart::Name("sandbox")]);
        }
    }
    Ok(())
}

/// Steps of the decision on a call: the host tells where each path leads, and each glob is compared with the argument.
fn steps_of_call(limits: &Limits, argument: &str) -> usize {
    const HOST: usize = 500;
    let rules = limits.write.iter().flat_map(|write| write.iter()).chain(limits.hide);
    let kept = limits.kept.len().saturating_mul(HOST);
    let of_rule = |rule: &String| HOST + expansions(rule) * (rule.len() + argument.len());
    HOST + kept + rules.map(of_rule).fold(0, usize::saturating_add)
}

/// A file, and the indices of the entries that lead to a phase in it.
type Source = (String, Vec<usize>);

/// Returns the file and the phases of a workflow that have a `sandbox`.
fn sandboxes(workflow: &Workflow) -> Vec<Source> {
    let own = workflow.limits.sandbox.map(|_| (workflow.file(), Vec::new()));
    let of_phases = workflow.own_phases().filter(|phase| phase.limits.sandbox.is_some());
    own.into_iter().chain(of_phases.map(|phase| (phase.file.clone(), phase.at.clone()))).collect()
}

struct LimitsLint<'a> {
    surroundings: &'a Surroundings,
    host: &'a dyn WorkflowFiles,
    fuel: &'a Fuel,
    anchored: &'a mut Vec<Anchored>,
    /// The diagnostics that were reported: several workflows may list a phase.
    seen: Set<String>,
}

impl LimitsLint<'_> {
    /// Reports a problem in a file, or in the phase in it to which indices of entries lead.
    fn report(&mut self, (file, entry): (&str, &[usize]), problem: impl Into<Problem>, at: &[PathPart]) {
        let at = in_group(entry, at);
        let anchored = Anchored::in_file(file, problem, &at);
        if self.seen.insert(format!("{at:?} {}", anchored.diagnostic)) {
            self.anchored.push(anchored);
        }
    }

    fn report_in(&mut self, phase: &Phase, problem: impl Into<Problem>, at: &[PathPart]) {
        self.report((&phase.file, &phase.at), problem, at);
    }

    /// Reports the limits of a workflow and of its phases, and notes the files whose `sandbox` has an effect.
    fn workflow(&mut self, workflow: &Workflow, used: &mut Set<Source>) -> Result<(), Stale> {
        let Workflow { limits, .. } = workflow;
        let file = workflow.file();
        self.paths(limits, (&file, &[]))?;
        for phase in workflow.own_phases() {
            self.paths(&phase.limits, (&phase.file, &phase.at))?;
            let limits = Limits::of(phase, workflow);
            if limits.write.is_some() || !limits.network {
                let own = phase.limits.sandbox.is_some();
                used.insert(if own { (phase.file.clone(), phase.at.clone()) } else { (file.clone(), Vec::new()) });
            }
            self.network(phase, workflow, &limits);
            self.globs(phase, &file, &limits);
            self.tools(phase, &limits);
        }
        self.gates(workflow)
    }

    fn paths(&mut self, own: &OwnLimits, file: (&str, &[usize])) -> Result<(), Stale> {
        for (field, index, problem) in path_problems(own, self.host)? {
            self.report(file, problem, &[PathPart::Key(field), PathPart::Item(index)]);
        }
        Ok(())
    }

    /// Reports `network: false` beside `sandbox: off`, in the file of the phase if one of the two fields stands there.
    fn network(&mut self, phase: &Phase, workflow: &Workflow, limits: &Limits) {
        if limits.network || limits.sandbox != Sandbox::Off {
            return;
        }
        let OwnLimits { network, sandbox, .. } = &phase.limits;
        let field = if network.is_some() { "network" } else { "sandbox" };
        let problem = LimitProblem::NetworkWithoutSandbox;
        if network.is_some() || sandbox.is_some() {
            self.report_in(phase, problem, &[PathPart::Key(field)]);
        } else {
            self.report((&workflow.file(), &[]), problem, &[PathPart::Key("network")]);
        }
    }

    /// Returns true unless it is known that there is no `bash`.
    fn has_bash(&self) -> bool {
        self.surroundings.more_tools || self.surroundings.tools.iter().any(|tool| tool == "bash")
    }

    /// Reports the globs that hold commands to a folder only.
    fn globs(&mut self, phase: &Phase, workflow_file: &str, limits: &Limits) {
        let runs_commands = phase.tools.allows("bash") && self.has_bash() || names(phase, &COMMAND_TOOLS);
        if !runs_commands || !limits.hold_commands() {
            return;
        }
        for (index, path) in limits.write.as_deref().unwrap_or_default().iter().enumerate() {
            let (folder, Some(glob)) = split(path) else { continue };
            if is_everything(glob) {
                continue;
            }
            let folder = if folder.is_empty() { "./" } else { folder };
            let problem = LimitProblem::CommandsInFolder { path: path.clone(), folder: folder.to_owned() };
            let at = [PathPart::Key("write"), PathPart::Item(index)];
            match limits.write_file {
                RuleFile::Own => self.report_in(phase, problem, &at),
                RuleFile::Workflow => self.report((workflow_file, &[]), problem, &at),
            }
        }
    }

    /// Reports a blacklist that leaves the files to commands, and a `write` of a phase whose whitelist has no tool that
    /// writes.
    fn tools(&mut self, phase: &Phase, limits: &Limits) {
        let refuses = |tool: &str| !phase.tools.allows(tool);
        let is_open = limits.write.is_none() && !refuses("bash") && self.has_bash();
        let is_open = is_open && matches!(phase.tools, ToolPolicy::Except(_));
        if is_open && FILE_TOOLS.iter().all(|tool| refuses(tool)) {
            let at = [PathPart::Key("tools"), PathPart::Key("blacklist")];
            self.report_in(phase, LimitProblem::CommandsWrite, &at);
        }
        let writes = names(phase, &COMMAND_TOOLS) || names(phase, &FILE_TOOLS);
        let has_list = phase.limits.write.as_ref().is_some_and(|write| !write.is_empty());
        if matches!(phase.tools, ToolPolicy::Only(_)) && !writes && has_list {
            let anchor = &[PathPart::Key("write")];
            self.report_in(phase, LimitProblem::NoToolWrites, anchor);
        }
    }

    /// Reports the files of gates that no phase up to the gate can write. A workflow that only other workflows start is
    /// not checked: phases of these workflows may come before.
    fn gates(&mut self, workflow: &Workflow) -> Result<(), Stale> {
        if workflow.show == Show::Workflows {
            return Ok(());
        }
        let mut before: Vec<&Phase> = Vec::new();
        for entry in &workflow.phases {
            let EntryKind::Phase(phase) = &entry.kind else { return Ok(()) };
            before.push(phase);
            self.gate(phase, workflow, &before)?;
        }
        Ok(())
    }

    /// Checks the gate of a phase; `before` are the phases up to this phase.
    fn gate(&mut self, phase: &Phase, workflow: &Workflow, before: &[&Phase]) -> Result<(), Stale> {
        for (index, check) in phase.gate.iter().flat_map(|gate| &gate.checks).enumerate() {
            let CheckKind::File { path, .. } = &check.kind else { continue };
            if is_glob(path) || self.may_write(path, workflow, before)? {
                continue;
            }
            let at = [PathPart::Key("gate"), PathPart::Item(index), PathPart::Key("file")];
            let file = match Limits::of(phase, workflow).write_file {
                RuleFile::Own => phase.file.clone(),
                RuleFile::Workflow => workflow.file(),
            };
            let problem = LimitProblem::UnwritableGateFile { path: path.clone(), file };
            self.report_in(phase, problem, &at);
        }
        Ok(())
    }

    /// Returns true if one of these phases may write a file, or if that is not known.
    fn may_write(&self, path: &str, workflow: &Workflow, phases: &[&Phase]) -> Result<bool, Stale> {
        let path = with_names(path);
        let Ok(target) = self.host.resolve_write(&path)? else { return Ok(true) };
        for phase in phases {
            let limits = Limits::of(phase, workflow).with_names();
            let tools = FILE_TOOLS.len() + COMMAND_TOOLS.len();
            if !self.fuel.spend(tools * steps_of_call(&limits, &path)) {
                return Ok(true);
            }
            if limits.write.is_none() || names_unknown_tool(phase) {
                return Ok(true);
            }
            for tool in FILE_TOOLS.into_iter().chain(COMMAND_TOOLS) {
                let argument = || Ok(Some(path.clone()));
                let may = match permission((&phase.tools, &limits), tool, false, &argument, self.host)? {
                    Permission::Allowed | Permission::Files(_) => true,
                    Permission::Confined { files, .. } => {
                        files.paths().iter().any(|base| below(&target.path, base).is_some())
                    }
                    Permission::Refused(_) => false,
                };
                if may {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Returns the problems of the paths of `write` and `hide`, each with its field and its index: paths of `write` that
/// lead through a link, paths of `hide` that contain the project, and paths that look like folders.
pub(crate) fn path_problems(
    own: &OwnLimits,
    host: &dyn WorkflowFiles,
) -> Result<Vec<(&'static str, usize, LimitProblem)>, Stale> {
    let mut problems = Vec::new();
    for (index, path) in paths(&own.write) {
        if may_mean_folder(path) {
            let problem = LimitProblem::MaybeFolder { field: "write", path: path.clone() };
            problems.push(("write", index, problem));
        }
        let target = resolve_fixed(split(path).0, host)?.ok();
        if let Some(target) = target.filter(|target| target.linked) {
            let problem = LimitProblem::LinkedPath { path: path.clone(), target: target.path };
            problems.push(("write", index, problem));
        }
    }
    for (index, path) in paths(&own.hide) {
        if may_mean_folder(path) {
            let problem = LimitProblem::MaybeFolder { field: "hide", path: path.clone() };
            problems.push(("hide", index, problem));
        }
        let target = resolve_fixed(path, host)?.ok();
        let project = host.resolve_write(".")?.ok();
        let contains =
            target.zip(project).is_some_and(|(target, project)| below(&project.path, &target.path).is_some());
        if contains {
            problems.push(("hide", index, LimitProblem::HidesProject { path: path.clone() }));
        }
    }
    Ok(problems)
}

fn paths(list: &Option<Vec<String>>) -> impl Iterator<Item = (usize, &String)> {
    list.iter().flatten().enumerate()
}

/// Returns true if a path looks like a folder: its last name is a word in small letters, without an extension.
fn may_mean_folder(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_of_word = |c: char| c.is_ascii_lowercase() || matches!(c, '-' | '_');
    name.len() > 2 && name.chars().all(is_of_word) && !name.ends_with("file")
}

/// Returns true if the whitelist of a phase names one of these tools.
fn names(phase: &Phase, tools: &[&str]) -> bool {
    matches!(&phase.tools, ToolPolicy::Only(names) if names.iter().any(|name| tools.iter().any(|tool| means_tool(name, tool))))
}

/// Returns true if the whitelist of a phase names a tool that may write anything.
fn names_unknown_tool(phase: &Phase) -> bool {
    matches!(&phase.tools, ToolPolicy::Only(names) if !names.iter().all(|name| is_of_pi(name)))
}
