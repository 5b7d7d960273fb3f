//! Texts about the folder of a run.

/// The reason for a value of a run that lacks its folder.
pub const NO_RUN_DIR: &str = "the run has no folder";

/// The reason for a value of a run without the folder of its workflow.
pub const NO_WORKFLOW_DIR: &str = "the folder of the workflow is not known";

/// Returns the notice that a run is not started because its folder cannot be made.
pub fn not_started_without_run_dir(reason: &str) -> String {
    format!("The workflow is not started: the folder of the run cannot be made: {reason}")
}

/// Returns the notice that the folder of a run that goes on cannot be made.
pub fn run_without_run_dir(reason: &str) -> String {
    format!(
        "The folder of the run cannot be made: {reason}\nGates and commands that need it fail until it can be: fix this, and enter /reload."
    )
}
