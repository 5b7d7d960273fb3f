//! The problem of a diagnostic.

use super::description::Description;
use super::field::FieldProblem;
use super::file::FileProblem;
use super::gate::GateProblem;
use super::limit::LimitProblem;
use super::model::ModelProblem;
use super::parallel::ParallelProblem;
use super::phase::PhaseProblem;
use super::settings::SettingsProblem;
use super::tool::ToolProblem;
use super::variable::VariableProblem;
use super::workflow::WorkflowProblem;
use super::yaml::YamlProblem;

macro_rules! problems {
    ($($subject:ident($problem:ident),)+) => {
        /// The problem of a diagnostic, by its subject. Each subject has a file with its problems and their words.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Problem {
            $($subject($problem),)+
        }

        impl Problem {
            /// Its severity, message and help.
            pub(crate) fn describe(&self) -> Description {
                match self {
                    $(Self::$subject(problem) => problem.describe(),)+
                }
            }
        }

        $(impl From<$problem> for Problem {
            fn from(problem: $problem) -> Self {
                Self::$subject(problem)
            }
        })+
    };
}

problems! {
    File(FileProblem),
    Yaml(YamlProblem),
    Field(FieldProblem),
    Variable(VariableProblem),
    Tool(ToolProblem),
    Model(ModelProblem),
    Phase(PhaseProblem),
    Gate(GateProblem),
    Limit(LimitProblem),
    Settings(SettingsProblem),
    Workflow(WorkflowProblem),
    Parallel(ParallelProblem),
}
