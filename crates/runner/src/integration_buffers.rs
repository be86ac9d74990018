//! The buffers of an integration whose size depends on the numbers of states and event indicators, and facts about each FMU.
//!
//! Where structural parameters change these numbers in the midst of a run, another set of buffers is made by a thread that may
//! allocate, and swapped in (FMI 3.0, 2.3.8).

use super::lines::Lines;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use vecud_base::time::TimeUnit;
use vecud_fmi::{Jacobian, Numbers, Provides, SparsityPattern};
use vecud_plan::{
    FmuId, FmuPlan, IntegrationPlan, JacobianPlan, MATRIX_STATES, ModelExchangePlan, Plan, Solver, UnitId,
};
use vecud_solver::{Drive, Method, Pace, Structure};

/// All that is as large as there are states and event indicators.
pub struct IntegrationBuffers {
    pub drive: Drive,
    pub parts: Vec<CoupledFmu>,
    pub nominals: Vec<f64>,
    pub saved: RollbackPoint,
}

/// Hands [`IntegrationBuffers`] from a thread that may allocate to the thread that integrates, and the old ones back to be freed.
/// Each of both looks while the other one is at rest, so that no one waits.
#[derive(Default)]
pub struct BufferSwap(Mutex<Hands>);

#[derive(Default)]
struct Hands {
    ready: Option<Box<IntegrationBuffers>>,
    over: Option<Box<IntegrationBuffers>>,
}

impl BufferSwap {
    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes buffers for the present `numbers` of the FMUs whose steps `unit` makes. Allocates.
    pub fn make(&self, plan: &Plan, unit: UnitId, numbers: impl Fn(FmuId) -> Numbers) {
        let ready = IntegrationBuffers::of(plan, unit, numbers).map(Box::new);
        *self.hands() = Hands { ready, over: None };
    }

    /// Swaps the new buffers, if there are any, with these; their memory is not freed here. `prepare` is called before with (new,
    /// old).
    pub fn replace(
        &self,
        buffers: &mut IntegrationBuffers,
        prepare: impl FnOnce(&mut IntegrationBuffers, &IntegrationBuffers),
    ) -> bool {
        let mut hands = self.hands();
        let Some(mut other) = hands.ready.take() else { return false };
        prepare(&mut other, buffers);
        std::mem::swap(&mut *other, buffers);
        hands.over = Some(other);
        true
    }
}

/// A communication point to which all may have to be taken back.
pub struct RollbackPoint {
    pub time: f64,
    pub states: Vec<f64>,
    pub pace: Pace,
}

/// One FMU of them.
pub struct CoupledFmu {
    /// Its number in the unit.
    pub member: usize,
    pub fmu: FmuId,
    /// How often its structural parameters had changed when its numbers were these.
    pub seen: u64,
    pub states: Range<usize>,
    pub indicators: Range<usize>,
    /// A 0 for each indicator: a buffer that the member swaps in once it has that many.
    pub roots: Vec<i32>,
    pub needs_completed_steps: bool,
    /// Inputs of it are on the lines of a file.
    pub is_on_lines: bool,
    /// Its unit of time.
    pub time_unit: TimeUnit,
    /// Dependence of the derivatives on the states; `None`: it is not known.
    pub jacobian: Option<JacobianPlan>,
    /// Reader of the Jacobian; `None`: the FMU gives no directional derivatives.
    pub pattern: Option<PatternRead>,
}

/// The elements of an FMU's Jacobian that may be other than 0, read by directional derivatives.
pub struct PatternRead {
    pub pattern: SparsityPattern,
    pub values: Vec<f64>,
}

impl PatternRead {
    fn new(plan: &JacobianPlan) -> PatternRead {
        let provides = Provides { directional: true, ..Provides::default() };
        let pattern =
            SparsityPattern::new(Jacobian::new(provides, &plan.derivatives, &plan.states), plan.places.clone());
        PatternRead { values: vec![0.0; pattern.places().len()], pattern }
    }
}

/// How many states and event indicators an instance has by its description.
pub fn described(fmu: &FmuPlan) -> Numbers {
    let numbers = |own: &ModelExchangePlan| Numbers { states: own.states, event_indicators: own.indicators };
    fmu.model_exchange().map(numbers).unwrap_or_default()
}

/// The FMUs of the unit of this task, and how they are integrated; `None`: none is.
pub fn integrated(plan: &Plan, unit: UnitId) -> Option<(Vec<UnitId>, IntegrationPlan)> {
    let members: Vec<UnitId> = plan.task_of(unit).units().to_vec();
    let integration = members.iter().find_map(|member| plan.units[member.0].integration())?;
    Some((members, integration))
}

impl IntegrationBuffers {
    /// For the `numbers` that the FMUs of the unit of this task have now; `None`: nothing is integrated.
    pub fn of(plan: &Plan, unit: UnitId, numbers: impl Fn(FmuId) -> Numbers) -> Option<IntegrationBuffers> {
        let (members, integration) = integrated(plan, unit)?;
        let mut parts = Vec::new();
        let (mut states, mut indicators) = (0, 0);
        for (member, unit) in members.iter().enumerate() {
            let id = plan.units[unit.0].fmu;
            let fmu = &plan.fmus[id.0];
            let Some(own) = fmu.model_exchange() else { continue };
            let now = numbers(id);
            // The dependencies of elements are known for the planned numbers alone.
            let jacobian = own.jacobian.as_ref().filter(|_| now == described(fmu));
            parts.push(CoupledFmu {
                member,
                fmu: id,
                seen: 0,
                states: states..states + now.states,
                indicators: indicators..indicators + now.event_indicators,
                roots: vec![0; now.event_indicators],
                needs_completed_steps: own.needs_completed_step,
                is_on_lines: Lines::are_for(plan, *unit),
                time_unit: fmu.time_unit,
                pattern: jacobian.filter(|jacobian| jacobian.is_provided).map(PatternRead::new),
                jacobian: jacobian.cloned(),
            });
            (states, indicators) = (states + now.states, indicators + now.event_indicators);
        }
        let drive = drive(integration, &parts, states, indicators);
        let saved = RollbackPoint { time: 0.0, states: vec![0.0; states], pace: drive.pace() };
        Some(IntegrationBuffers { drive, parts, nominals: vec![1.0; states], saved })
    }
}

fn drive(integration: IntegrationPlan, parts: &[CoupledFmu], states: usize, indicators: usize) -> Drive {
    let IntegrationPlan { tolerance, internal_step, .. } = integration;
    let internal_step = internal_step.seconds();
    let method = match integration.solver {
        Solver::Euler => Method::Euler { internal_step },
        Solver::Rk4 => Method::Rk4 { internal_step },
        Solver::Dopri5 => Method::Dopri5 { tolerance },
        Solver::Bdf => Method::Bdf { tolerance },
        Solver::Auto if states <= MATRIX_STATES => Method::Auto { tolerance },
        Solver::Auto => Method::Dopri5 { tolerance },
    };
    let mut drive = Drive::new(method, states, indicators);
    if parts.iter().all(|part| part.jacobian.is_some()) {
        let of_part = |part: &CoupledFmu| {
            let begin = part.states.start;
            let places = part.jacobian.iter().flat_map(|jacobian| &jacobian.places);
            places.map(move |(row, column)| (begin + row, begin + column)).collect::<Vec<_>>()
        };
        let places: Vec<(usize, usize)> = parts.iter().flat_map(of_part).collect();
        drive.set_structure(Structure::sparse(states, &places));
    }
    drive
}
