//! The classes of slaves, C_P, C_R and C_L: who can say how far it steps, who can go back, who can do neither.
//!
//! Guarantees: every slave has exactly one class, and it is known why; of [`Classes`] at most one is legacy, and where the algorithm
//! is rollback all are. What does not hold is told with all slaves that are against it, and with the way out.

use super::{MasterAlgorithm, Source};
use serde::{Deserialize, Serialize};
use std::fmt;
use vecud_base::time::Fraction;

/// The class of a slave: its abilities for a master.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SlaveClass {
    /// C_P: accepts every step up to one that it tells in advance (A4).
    Predictable,
    /// C_R: can be taken back to the beginning of a step.
    Rollback,
    /// C_L: neither. A group has one at most: it decides how long a step is, and two may decide differently.
    Legacy,
}

/// The way in which a slave is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WayBack {
    /// `canGetAndSetFMUState`.
    State,
    /// FMI 1.0's `canRejectSteps`: the next step says that the last one does not count.
    RejectedStep,
    /// Model Exchange: time and continuous states are set, as long as no internal step was completed.
    ContinuousStates,
    /// Model Exchange: `canGetAndSetFMUState`, where internal steps are completed.
    StatesOfModels,
}

/// Why an FMU cannot be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NoWayBack {
    /// `canGetAndSetFMUState` is not true.
    State,
    /// Co-Simulation of FMI 1.0: `canRejectSteps` is not true.
    RejectedStep,
    /// Model Exchange of FMI 1.0: nothing saves a state, and a completed internal step is not undone.
    Version,
}

impl fmt::Display for NoWayBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoWayBack::State => "its state cannot be saved (canGetAndSetFMUState is not true)",
            NoWayBack::RejectedStep => "its steps cannot be rejected (canRejectSteps is not true)",
            NoWayBack::Version => "its state cannot be saved (FMI 1.0 has no function for that)",
        })
    }
}

impl WayBack {
    /// Whether a repeated step has the same result, and a shorter one is accepted (A1). An FMU that the host integrates is then
    /// integrated in other internal steps, and its events move by as much as these are wrong.
    pub fn repeats(self) -> bool {
        matches!(self, WayBack::State | WayBack::RejectedStep)
    }
}

/// The abilities that an FMU declares, as far as its class depends on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// `canHandleVariableCommunicationStepSize`; FMUs for Model Exchange always can.
    pub varies_step: bool,
    /// `mightReturnEarlyFromDoStep`. Versions without that flag: true, since a step may be discarded.
    pub may_return_early: bool,
    /// Way to restore an earlier state, or the reason why there is none.
    pub way_back: Result<WayBack, NoWayBack>,
    /// Sources of its largest step. For an FMU with one step size, that size is among them.
    pub sources: Vec<Source>,
}

/// A slave to classify.
#[derive(Clone, Debug)]
pub struct UnclassifiedSlave<'a> {
    /// Name of the slave, as the user knows it.
    pub name: &'a str,
    /// Abilities of the slave.
    pub abilities: Abilities,
    /// Class requested by the user.
    pub wish: Option<SlaveClass>,
}

/// Why a slave has its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClassReason {
    /// Predictable: its largest step is known from there.
    Known(Source),
    /// Predictable: it has one step size, which is that of the group, and nobody makes that shorter.
    StepOfGroup,
    /// Rollback: it can be taken back so.
    GoesBack(WayBack),
    /// Legacy: it has one step size, and can make no shorter step where others have to.
    OneStepSize,
    /// Legacy: it has one step size, which is not that of the group.
    OtherStepSize,
    /// Legacy: nothing tells its largest step, and it cannot be taken back.
    NothingKnown(NoWayBack),
    /// Legacy: its largest step would be known, but it may return earlier, and it cannot be taken back.
    MayReturnEarly(Source, NoWayBack),
    /// The user has said so.
    Wished,
}

/// A slave with its class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classified {
    /// The slave's class.
    pub class: SlaveClass,
    /// Reason for the class.
    pub why: ClassReason,
    /// Sources of its largest step.
    pub sources: Vec<Source>,
    /// Way to restore an earlier state, if the class is rollback.
    pub way_back: Option<WayBack>,
}

/// The classes of all slaves of a group, which fit together. Only [`classify`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Classes(Vec<Classified>);

impl Classes {
    /// The slaves, in the order in which they were given.
    pub fn slaves(&self) -> &[Classified] {
        &self.0
    }
}

/// Why slaves cannot be a group under that algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// More than one is legacy: these, by name.
    Legacy(Vec<(String, ClassReason)>),
    /// The algorithm rollback needs a way back of all; these have none, by name.
    CannotGoBack(Vec<(String, ClassReason)>),
    /// The user wants one to be what it cannot be.
    Wish {
        /// Name of the slave.
        name: String,
        /// The requested class.
        wish: SlaveClass,
        /// The missing ability, beside a source of its largest step.
        lacks: Lack,
    },
}

/// The ability that a slave lacks for a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Steps of other sizes.
    StepSizes,
    /// A way back, which rollback needs.
    WayBack(NoWayBack),
    /// A source of its largest step, which predictable needs.
    Source,
}

/// Gives each slave of a group, whose steps are `step` at most, a class for this algorithm:
///
/// * predictable, if it handles steps of any size and its largest one is known: from itself if it never returns early, or
///   from a promise, which are `fmi2GetMaxStepSize` and the rig's `max_step`; or if its only step is the group's, which nobody shortens;
/// * else rollback, if it handles steps of any size and can be taken back;
/// * else legacy.
///
/// Classifies the slaves. With [`MasterAlgorithm::Rollback`] all slaves that can be taken back are rollback, and all slaves must
/// be. The algorithms without a way back require no class; their classes are for the report, and no slave is refused.
pub fn classify(
    candidates: &[UnclassifiedSlave],
    algorithm: MasterAlgorithm,
    step: Fraction,
) -> Result<Classes, Unfit> {
    let mut classes = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        classes.push(alone(candidate, algorithm)?);
    }
    let is_shortened = candidates.iter().zip(&classes).any(|(candidate, own)| can_shorten(candidate, own, step));
    for (candidate, own) in candidates.iter().zip(&mut classes).filter(|(_, own)| own.why == ClassReason::OneStepSize) {
        if !candidate.abilities.sources.contains(&Source::ConstantStep(step)) {
            own.why = ClassReason::OtherStepSize;
        } else if !is_shortened && algorithm != MasterAlgorithm::Rollback {
            (own.class, own.why) = (SlaveClass::Predictable, ClassReason::StepOfGroup);
        }
    }
    let named = |is_it: &dyn Fn(&Classified) -> bool| -> Vec<(String, ClassReason)> {
        let these = candidates.iter().zip(&classes).filter(|(_, own)| is_it(own));
        let mut named: Vec<(String, ClassReason)> = these.map(|(one, own)| (one.name.to_owned(), own.why)).collect();
        named.sort_by(|(a, _), (b, _)| a.cmp(b));
        named
    };
    match algorithm {
        MasterAlgorithm::Rollback => {
            let stay = named(&|own| own.class != SlaveClass::Rollback);
            if !stay.is_empty() {
                return Err(Unfit::CannotGoBack(stay));
            }
        }
        MasterAlgorithm::Predictable => {
            let legacy = named(&|own| own.class == SlaveClass::Legacy);
            if legacy.len() > 1 {
                return Err(Unfit::Legacy(legacy));
            }
        }
        MasterAlgorithm::Jacobi | MasterAlgorithm::GaussSeidel => {}
    }
    Ok(Classes(classes))
}

/// The class that a slave has whatever the others are.
fn alone(candidate: &UnclassifiedSlave, algorithm: MasterAlgorithm) -> Result<Classified, Unfit> {
    let Abilities { varies_step, may_return_early, way_back, ref sources } = candidate.abilities;
    let (way_back, no_way_back) = (way_back.ok().filter(|_| varies_step), way_back.err());
    let is_promise = |source: &&Source| matches!(source, Source::GetMaxStepSize | Source::Rig(_));
    let known = sources.iter().find(|source| !may_return_early || is_promise(source)).filter(|_| varies_step);
    let classified = |class, why| {
        let way_back = way_back.filter(|_| class == SlaveClass::Rollback);
        Ok(Classified { class, why, sources: sources.clone(), way_back })
    };
    if let Some(wish) = candidate.wish {
        let can_be = match wish {
            SlaveClass::Legacy => true,
            SlaveClass::Rollback => way_back.is_some(),
            // The user vouches for that it does not return early.
            SlaveClass::Predictable => varies_step && !sources.is_empty(),
        };
        return match can_be {
            true => classified(wish, ClassReason::Wished),
            false => {
                let lacks = match (varies_step, no_way_back) {
                    (false, _) => Lack::StepSizes,
                    (true, Some(none)) if wish == SlaveClass::Rollback => Lack::WayBack(none),
                    (true, _) => Lack::Source,
                };
                Err(Unfit::Wish { name: candidate.name.to_owned(), wish, lacks })
            }
        };
    }
    match (known, way_back) {
        (_, Some(way_back)) if algorithm == MasterAlgorithm::Rollback => {
            classified(SlaveClass::Rollback, ClassReason::GoesBack(way_back))
        }
        (Some(&source), _) => classified(SlaveClass::Predictable, ClassReason::Known(source)),
        (None, Some(way_back)) => classified(SlaveClass::Rollback, ClassReason::GoesBack(way_back)),
        (None, None) if !varies_step => classified(SlaveClass::Legacy, ClassReason::OneStepSize),
        (None, None) => {
            let none = no_way_back.unwrap_or(NoWayBack::State);
            let why = sources.first().map(|&source| ClassReason::MayReturnEarly(source, none));
            classified(SlaveClass::Legacy, why.unwrap_or(ClassReason::NothingKnown(none)))
        }
    }
}

/// Whether a slave may end the steps of its group earlier.
fn can_shorten(candidate: &UnclassifiedSlave, own: &Classified, step: Fraction) -> bool {
    let is_limited = own.sources.iter().any(|source| source.can_shorten(step));
    candidate.abilities.may_return_early || (own.class == SlaveClass::Predictable && is_limited)
}

impl fmt::Display for SlaveClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SlaveClass::Predictable => "predictable",
            SlaveClass::Rollback => "rollback",
            SlaveClass::Legacy => "legacy",
        })
    }
}

impl fmt::Display for ClassReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassReason::Known(source) => write!(f, "its largest step is known from {source}"),
            ClassReason::StepOfGroup => f.write_str("its only step size is the group's, and nobody makes steps shorter"),
            ClassReason::GoesBack(WayBack::StatesOfModels) => {
                f.write_str("states of all that are integrated can be saved (canGetAndSetFMUState)")
            }
            ClassReason::GoesBack(WayBack::State) => f.write_str("its state can be saved (canGetAndSetFMUState)"),
            ClassReason::GoesBack(WayBack::RejectedStep) => f.write_str("its steps can be rejected (canRejectSteps)"),
            ClassReason::GoesBack(WayBack::ContinuousStates) => {
                f.write_str("its continuous states are set back, before an internal step is completed")
            }
            ClassReason::OneStepSize => f.write_str(
                "it has one step size (canHandleVariableCommunicationStepSize is not true), and can make no shorter step",
            ),
            ClassReason::OtherStepSize => f.write_str(
                "it has one step size (canHandleVariableCommunicationStepSize is not true), which is not that of the group",
            ),
            ClassReason::NothingKnown(none) => write!(f, "nothing tells how far it can step, and {none}"),
            ClassReason::MayReturnEarly(source, none) => write!(
                f,
                "its largest step would be known from {source}, but it may return earlier (mightReturnEarlyFromDoStep), and {none}"
            ),
            ClassReason::Wished => f.write_str("the rig says so (class)"),
        }
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = |f: &mut fmt::Formatter, these: &[(String, ClassReason)]| {
            these.iter().enumerate().try_for_each(|(number, (name, why))| {
                let separator = if number == 0 { "" } else { "; " };
                write!(f, "{separator}{name}: {why}")
            })
        };
        match self {
            Unfit::Legacy(these) => {
                write!(
                    f,
                    "{} of its FMUs can neither say how far they step nor go back, and one at most may be so: ",
                    these.len()
                )?;
                each(f, these)?;
                f.write_str(
                    "; say how far one can step (max_step), take one out of the group, or use algorithm = \"jacobi\"",
                )
            }
            Unfit::CannotGoBack(these) => {
                f.write_str("algorithm = \"rollback\" takes all FMUs back, but not all can go: ")?;
                each(f, these)?;
                f.write_str("; use algorithm = \"predictable\", which needs that only of some, or \"jacobi\"")
            }
            Unfit::Wish { name, wish, lacks } => {
                write!(f, "{name} cannot be {wish}: ")?;
                match lacks {
                    Lack::StepSizes => {
                        f.write_str("it has one step size (canHandleVariableCommunicationStepSize is not true)")?
                    }
                    Lack::WayBack(none) => write!(f, "{none}")?,
                    Lack::Source => f.write_str("nothing tells how far it can step; say so with max_step")?,
                }
                f.write_str("; leave class out, or make it \"legacy\"")
            }
        }
    }
}

impl std::error::Error for Unfit {}
