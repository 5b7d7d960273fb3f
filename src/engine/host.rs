//! The host's functions for the engine.

use crate::definition::{KnownModel, ModelSetting, Stale, UserMessage, WorkflowFiles};
use crate::run::{ClaimObstacle, RunDir};
use crate::text::TerminalSize;
use crate::usage::Usage;

use super::quota::ModelFailure;

/// Read access to the session and to pi, beside the workflow files. A default method returns an empty or unknown value.
/// Every host must provide the values that decide if a tool call is allowed or a phase is left.
///
/// # Errors
///
/// Each function fails only if the session is gone.
pub trait Host: WorkflowFiles {
    /// The folder of the project's workflows, for messages, if the folder exists and is not read because pi does not
    /// trust the project.
    fn untrusted(&self) -> Result<Option<String>, Stale> {
        Ok(None)
    }

    /// The folder of workflows of the nearest folder above that has one, for messages; it is not read.
    fn workflows_above(&self) -> Result<Option<String>, Stale> {
        Ok(None)
    }

    /// Returns true if pi trusts the project.
    fn is_trusted(&self) -> Result<bool, Stale> {
        Ok(false)
    }

    /// Writes the `workflow.yaml` of a new workflow with this key in a root, and returns its path, for the user. The inner
    /// error is the reason, for the user; nothing that exists is changed.
    fn write_workflow(&self, _root: &str, _key: &str, _text: &str) -> Result<Result<String, String>, Stale> {
        Ok(Err("this host writes none".to_owned()))
    }

    /// Takes the claim of the session, which one process has at a time; returns the obstacle if another process has it. With
    /// `takes_over` a process counts for nothing of which nobody can tell if it lives.
    fn claim(&self, _takes_over: bool) -> Result<Option<ClaimObstacle>, Stale> {
        Ok(None)
    }

    /// Starts to record a snapshot of all reads and their results, in place of an earlier snapshot.
    fn start_snapshot(&self) {}

    /// Finishes the snapshot.
    fn finish_snapshot(&self) {}

    /// Returns true if every read of the snapshot would have the same result again. In doubt it is false.
    fn unchanged(&self) -> bool {
        false
    }

    /// Returns true if a message in the user's role waits for the agent.
    fn has_waiting_message(&self) -> Result<bool, Stale> {
        Ok(false)
    }

    /// The failure of the last request to the model, if it failed.
    fn model_failure(&self) -> Result<Option<ModelFailure>, Stale> {
        Ok(None)
    }

    /// The names of the tools that the model is shown; `None` where the host does not tell.
    fn active_tools(&self) -> Result<Option<Vec<String>>, Stale> {
        Ok(None)
    }

    /// The models that pi knows; `None` where the host does not tell.
    fn models(&self) -> Result<Option<Vec<KnownModel>>, Stale> {
        Ok(None)
    }

    /// The model in use, or the model that is being set, and its thinking level; `None` if there is no model, or if the
    /// host does not tell.
    fn model_setting(&self) -> Result<Option<ModelSetting>, Stale> {
        Ok(None)
    }

    /// A text that identifies the project's directory; another directory at the same path has another text. `None`
    /// where the system gives none: then no answer about the project can be remembered.
    fn project_identity(&self) -> Option<String> {
        None
    }

    /// The value that is kept for a key beyond the session; `None` if there is no value, or the value cannot be read.
    fn recall(&self, _key: &str) -> Option<String> {
        None
    }

    /// The argument of this name of the tool call of the current event, if the call has such an argument and it is a
    /// string.
    fn call_argument(&self, _name: &str) -> Result<Option<String>, Stale> {
        Ok(None)
    }

    /// The tools whose calls run, except tools that only carry calls of others, the call of the current event, and the
    /// calls that carry that call.
    fn running_tools(&self) -> Result<Vec<String>, Stale>;

    /// The data of the newest custom entries of a type on the session's branch, newest first, JSON each.
    fn entries(&self, _custom_type: &str) -> Result<Vec<String>, Stale> {
        Ok(Vec::new())
    }

    /// The data of the custom entry of a type with this number on the session's branch, newest first, from 0; JSON.
    fn entry(&self, _custom_type: &str, _number: u32) -> Result<Option<String>, Stale> {
        Ok(None)
    }

    /// The user messages on the session's branch behind the first state entry of a run, newest first, including
    /// messages that were sent in the user's place.
    fn user_messages(&self, _task_id: &str) -> Result<Vec<UserMessage>, Stale> {
        Ok(Vec::new())
    }

    /// The usage since the newest state entry on the session's branch, and the time of the newest entry, in
    /// milliseconds since 1970.
    fn usage_since_state(&self) -> Result<(Usage, Option<u64>), Stale> {
        Ok((Usage::default(), None))
    }

    /// Makes the folder of a run in the project if it is missing, as a copy of the folder with the other name if that
    /// folder exists. The inner error is the reason, for the user.
    fn open_run_dir(&self, _task_id: &str, _copy_of: Option<&str>) -> Result<Result<RunDir, String>, Stale>;

    /// Writes a file of this name in the folder of a run, in the place of an earlier file. The inner error is the
    /// reason, for the user.
    fn write_run_file(&self, _task_id: &str, _name: &str, _text: &str) -> Result<Result<(), String>, Stale>;

    /// Returns true if the system can confine commands with or without a network; the inner error is the reason, for the
    /// user, and how to fix it.
    fn can_confine(&self, network: bool) -> Result<Result<(), String>, Stale>;

    /// The size of the user's terminal; `None` outside a terminal, and where the host does not know it.
    fn terminal_size(&self) -> Result<Option<TerminalSize>, Stale> {
        Ok(None)
    }

    /// The difference between the user's local time and UTC at this instant, in minutes, positive east of Greenwich.
    fn utc_offset(&self, _unix_ms: u64) -> Result<i16, Stale> {
        Ok(0)
    }

    /// The difference between the time of a zone of the IANA database and UTC at this instant, as `utc_offset`; `None` for an
    /// unknown zone.
    fn zone_offset(&self, _zone: &str, _unix_ms: u64) -> Result<Option<i16>, Stale> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::fixtures::Files;

    impl Host for Files {
        fn untrusted(&self) -> Result<Option<String>, Stale> {
            let is_withheld = self.untrusted && !self.project.is_empty();
            Ok(is_withheld.then(|| ".pi/workflows".to_owned()))
        }

        fn workflows_above(&self) -> Result<Option<String>, Stale> {
            Ok(self.above.clone())
        }

        fn is_trusted(&self) -> Result<bool, Stale> {
            Ok(!self.untrusted)
        }

        fn write_workflow(&self, root: &str, key: &str, text: &str) -> Result<Result<String, String>, Stale> {
            self.written.borrow_mut().push((format!("{root}/{key}"), text.to_owned()));
            Ok(self.no_run_file.clone().map_or_else(|| Ok(format!("~/{root}/{key}/workflow.yaml")), Err))
        }

        fn claim(&self, takes_over: bool) -> Result<Option<ClaimObstacle>, Stale> {
            self.claims.borrow_mut().push(takes_over);
            let stays = |obstacle: &ClaimObstacle| !(takes_over && matches!(obstacle, ClaimObstacle::Unknown(_)));
            Ok(self.claim_obstacle.borrow().clone().filter(stays))
        }

        fn start_snapshot(&self) {
            let own = [self.global.clone(), self.project.clone()];
            *self.snapshot.borrow_mut() = Some((own, self.packages.clone()));
        }

        fn unchanged(&self) -> bool {
            let snapshot = self.snapshot.borrow();
            snapshot.as_ref().is_some_and(|([global, project], packages)| {
                (global, project, packages) == (&self.global, &self.project, &self.packages)
            })
        }

        fn project_identity(&self) -> Option<String> {
            self.identity.clone()
        }

        fn recall(&self, key: &str) -> Option<String> {
            self.kept.get(key).cloned()
        }

        fn entries(&self, custom_type: &str) -> Result<Vec<String>, Stale> {
            let is_task = custom_type == crate::protocol::TASK_ENTRY_TYPE;
            Ok(self.tasks.iter().filter(|_| is_task).cloned().collect())
        }

        fn entry(&self, custom_type: &str, number: u32) -> Result<Option<String>, Stale> {
            let entries = match custom_type {
                crate::protocol::STATE_ENTRY_TYPE => &self.states,
                crate::protocol::PROPOSAL_TYPE => &self.proposals,
                _ => return Ok(None),
            };
            Ok(entries.get(number as usize).cloned())
        }

        fn usage_since_state(&self) -> Result<(crate::usage::Usage, Option<u64>), Stale> {
            Ok((self.usage.borrow().clone(), self.newest_entry.get()))
        }

        fn has_waiting_message(&self) -> Result<bool, Stale> {
            Ok(self.has_waiting_message)
        }

        fn model_failure(&self) -> Result<Option<ModelFailure>, Stale> {
            let message = self.failure.borrow().clone();
            Ok(message.map(|message| ModelFailure { message, ..ModelFailure::default() }))
        }

        fn active_tools(&self) -> Result<Option<Vec<String>>, Stale> {
            Ok(self.active_tools.borrow().clone())
        }

        fn models(&self) -> Result<Option<Vec<KnownModel>>, Stale> {
            Ok(self.models.clone())
        }

        fn model_setting(&self) -> Result<Option<ModelSetting>, Stale> {
            Ok(self.setting.borrow().clone())
        }

        fn call_argument(&self, name: &str) -> Result<Option<String>, Stale> {
            Ok(self.call_arguments.get(name).cloned())
        }

        fn running_tools(&self) -> Result<Vec<String>, Stale> {
            Ok(self.running_tools.clone())
        }

        fn open_run_dir(&self, task_id: &str, copy_of: Option<&str>) -> Result<Result<RunDir, String>, Stale> {
            self.run_dirs.borrow_mut().push((task_id.to_owned(), copy_of.map(ToOwned::to_owned)));
            let path = format!(".pi/workflow-runs/{}", self.run_dir);
            let dir = || RunDir::opened(self.run_dir.clone(), path);
            Ok(self.no_run_dir.clone().map_or_else(|| Ok(dir()), Err))
        }

        fn write_run_file(&self, task_id: &str, name: &str, text: &str) -> Result<Result<(), String>, Stale> {
            self.run_files.borrow_mut().push((format!("{task_id}/{name}"), text.to_owned()));
            Ok(self.no_run_file.clone().map_or(Ok(()), Err))
        }

        fn terminal_size(&self) -> Result<Option<TerminalSize>, Stale> {
            Ok(self.terminal.map(|(columns, lines)| TerminalSize { columns, lines }))
        }

        fn can_confine(&self, network: bool) -> Result<Result<(), String>, Stale> {
            let reason = self.cannot_confine.clone().filter(|_| !network || !self.confines_with_network);
            Ok(reason.map_or(Ok(()), Err))
        }
    }
}
