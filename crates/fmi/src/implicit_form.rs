//! The equations of Model Exchange in implicit form, as solvers of differential-algebraic equations want them: instead of the
//! derivatives f(t, x, u) what is left over when some are assumed, r = f(t, x, u) − ẋ, and how derivatives and outputs change with the
//! states.
//!
//! All continuous states of FMI are differential ones: an FMU solves algebraic equations by itself. So each row of the residual belongs
//! to a state whose derivative occurs in it, and ∂r/∂ẋ is −1 on the diagonal.
//!
//! Which variables they are is in the description and nowhere else ([`ImplicitForm::of`]). What is computed is of the point that the FMU
//! was told last, by [`ContinuousTime::set_time`], [`ContinuousTime::set_states`] and [`ContinuousTime::set`]:
//! ```
//! use vecud_fmi::{Attempt, ContinuousTime, DerivativeError, ImplicitForm};
//! fn f(form: &mut ImplicitForm, at: &mut ContinuousTime, x: &[f64], x_dot: &[f64]) -> Result<Attempt, DerivativeError> {
//!     let _ = at.set_time(0.5)?;
//!     let _ = at.set_states(x)?;
//!     let mut residual = vec![0.0; form.states()];
//!     if let discarded @ Attempt::Discarded(_) = form.residual(at, x_dot, &mut residual)? {
//!         return Ok(discarded); // a smaller step may go well
//!     }
//!     let mut matrix = vec![0.0; form.rows() * form.states()];
//!     form.jacobian(at, &mut matrix)
//! }
//! ```
//! An event that has changed inputs or states makes another system of equations: a caller that keeps a matrix computes it anew.

use super::batch::Batch;
use super::derivatives::{DerivativeError, Jacobian, Provides};
use super::jacobian::{SparsityPattern, column_colours};
use super::model::{Attempt, ContinuousTime};
use super::status::{Failure, Outcome, Status};
use std::fmt;
use std::ops::Range;
use vecud_description::{Causality, ModelDescription, Unknown, ValueReference, Variability, Variable, VariableType};

/// The least distance of two points at which derivatives are compared, relative to the size of a state: half of a double's digits.
const DISTANCE: f64 = 1.4901161193847656e-8;

/// The residual of an FMU, and the matrix of its derivatives and outputs with respect to its states.
///
/// The rows of the matrix are the derivatives of the states, then the continuous outputs ([`ImplicitForm::outputs`]); its columns are the
/// states; it is row-major. Arrays have a row or a column for each element.
///
/// The part that needs no FMU:
/// ```
/// let xml = r#"<fmiModelDescription fmiVersion="3.0" modelName="lag" instantiationToken="{lag}">
///   <ModelExchange modelIdentifier="lag" providesDirectionalDerivatives="true"/>
///   <ModelVariables>
///     <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
///     <Float64 name="x" valueReference="1" causality="local" variability="continuous" initial="exact" start="1"/>
///     <Float64 name="der(x)" valueReference="2" causality="local" variability="continuous" initial="calculated" derivative="1"/>
///     <Float64 name="v" valueReference="3" causality="local" variability="continuous" initial="exact" start="0"/>
///     <Float64 name="der(v)" valueReference="4" causality="local" variability="continuous" initial="calculated" derivative="3"/>
///     <Float64 name="y" valueReference="5" causality="output" variability="continuous" initial="calculated"/>
///   </ModelVariables>
///   <ModelStructure>
///     <Output valueReference="5" dependencies="3"/>
///     <ContinuousStateDerivative valueReference="2" dependencies="1"/>
///     <ContinuousStateDerivative valueReference="4" dependencies="3"/>
///   </ModelStructure>
/// </fmiModelDescription>"#;
/// let description = vecud_description::parse(xml).unwrap();
/// let form = vecud_fmi::ImplicitForm::of(&description).unwrap();
/// assert_eq!((form.rows(), form.states()), (3, 2));
/// // No two states are in one row, so both columns are had at once.
/// assert_eq!(form.places(), [(0, 0), (1, 1), (2, 1)]);
/// assert_eq!(form.calls(), 1);
/// assert_eq!(form.by_differences().calls(), 2, "with one at the point itself");
/// ```
pub struct ImplicitForm {
    states: usize,
    outputs: Vec<(ValueReference, usize)>,
    places: Vec<(usize, usize)>,
    way: Way,
}

/// The source of the matrix.
enum Way {
    Directional { pattern: SparsityPattern, values: Vec<f64> },
    Differences(Box<Differences>),
}

/// Room for differences, and the columns of each evaluation.
struct Differences {
    outputs: Batch,
    /// Columns that have no row in common, each with its rows.
    colours: Vec<Vec<(usize, Vec<usize>)>>,
    states: Vec<f64>,
    moved: Vec<f64>,
    nominals: Vec<f64>,
    /// Derivatives and outputs at the point, and beside it.
    here: Vec<f64>,
    there: Vec<f64>,
}

/// Why a description has no equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoImplicitForm {
    /// The FMU does not offer Model Exchange.
    NoModelExchange,
    /// The description does not say which variables the states are.
    UnknownStates,
}

impl fmt::Display for NoImplicitForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoImplicitForm::NoModelExchange => "the FMU does not offer Model Exchange, so that it shows no equations",
            NoImplicitForm::UnknownStates => {
                "the description lists derivatives that are not those of states with as many elements (ModelStructure, derivative)"
            }
        })
    }
}

impl std::error::Error for NoImplicitForm {}

impl ImplicitForm {
    /// Implicit form of an FMU whose structural parameters have their start values: by directional derivatives where
    /// the FMU offers them, else by differences, and by as few calls as the dependencies of `<ModelStructure>` allow.
    /// FMI 1.0 declares no dependencies.
    pub fn of(description: &ModelDescription) -> Result<ImplicitForm, NoImplicitForm> {
        let offer = description.model_exchange().ok_or(NoImplicitForm::NoModelExchange)?;
        let elements = |variable: &Variable| description.elements(variable) as usize;
        let is_meant = |variable: &&Variable| {
            variable.causality == Causality::Output
                && variable.variability == Variability::Continuous
                && variable.variable_type == VariableType::Float64
        };
        let row = |variable: &Variable| (variable.value_reference, elements(variable));
        if !description.abi.has_structure_of_states() {
            let states = description.number_of_continuous_states.unwrap_or(0) as usize;
            let outputs: Vec<_> = description.variables.iter().filter(is_meant).map(row).collect();
            let rows = states + outputs.iter().map(|(_, elements)| elements).sum::<usize>();
            let places = (0..rows).flat_map(|row| (0..states).map(move |column| (row, column))).collect();
            return Ok(ImplicitForm::new(states, outputs, places));
        }
        let states = description.continuous_states(elements).ok_or(NoImplicitForm::UnknownStates)?;
        let derivatives = &description.structure.continuous_state_derivatives;
        let mut places = Vec::new();
        let depends = |rows: Range<usize>, unknown: &Unknown| {
            let columns = states.that_determine(unknown);
            rows.flat_map(move |row| columns.clone().into_iter().flatten().map(move |column| (row, column)))
        };
        for (unknown, state) in derivatives.iter().zip(states.list()) {
            places.extend(depends(state.elements.clone(), unknown));
        }
        let (mut outputs, mut end) = (Vec::new(), states.elements());
        for unknown in &description.structure.outputs {
            let Some(variable) = description.by_reference(unknown.variable).filter(is_meant) else { continue };
            let begin = end;
            end += elements(variable);
            places.extend(depends(begin..end, unknown));
            // An output may be a state, or the derivative of one; some FMUs say of such an output that it depends on nothing.
            for (derivative, state) in derivatives.iter().zip(states.list()) {
                if std::ptr::eq(state.variable, variable) {
                    places.extend((begin..end).zip(state.elements.clone()));
                }
                if std::ptr::eq(state.derivative, variable) {
                    places.extend(depends(begin..end, derivative));
                }
            }
            outputs.push(row(variable));
        }
        places.sort_unstable();
        places.dedup();
        let provides = Provides::from(&offer.common);
        if !provides.directional {
            return Ok(ImplicitForm::new(states.elements(), outputs, places));
        }
        let list = states.list().iter();
        let (derivatives, knowns): (Vec<_>, Vec<_>) = list.map(|own| (row(own.derivative), row(own.variable))).unzip();
        let unknowns: Vec<_> = derivatives.into_iter().chain(outputs.iter().copied()).collect();
        let pattern = SparsityPattern::new(Jacobian::new(provides, &unknowns, &knowns), places.clone());
        let values = vec![0.0; places.len()];
        Ok(ImplicitForm { states: states.elements(), outputs, places, way: Way::Directional { pattern, values } })
    }

    /// A form by differences.
    fn new(states: usize, outputs: Vec<(ValueReference, usize)>, places: Vec<(usize, usize)>) -> ImplicitForm {
        let batch = Batch::new(VariableType::Float64, outputs.clone());
        let rows = states + batch.len();
        let mut rows_of = vec![Vec::new(); states];
        for &(row, column) in &places {
            rows_of[column].push(row);
        }
        let mut colours: Vec<Vec<(usize, Vec<usize>)>> = Vec::new();
        for ((column, colour), rows) in column_colours(states, &places).into_iter().enumerate().zip(rows_of) {
            colours.resize_with(colours.len().max(colour + 1), Vec::new);
            // A state on which nothing depends need not be moved.
            if !rows.is_empty() {
                colours[colour].push((column, rows));
            }
        }
        colours.retain(|columns| !columns.is_empty());
        let zeros = |length| vec![0.0; length];
        let differences = Differences {
            outputs: batch,
            colours,
            states: zeros(states),
            moved: zeros(states),
            nominals: zeros(states),
            here: zeros(rows),
            there: zeros(rows),
        };
        ImplicitForm { states, outputs, places, way: Way::Differences(Box::new(differences)) }
    }

    /// The form by differences, whatever the FMU offers.
    pub fn by_differences(self) -> ImplicitForm {
        ImplicitForm::new(self.states, self.outputs, self.places)
    }

    /// Elements of all continuous states: columns of the matrix, and rows of the residual.
    pub fn states(&self) -> usize {
        self.states
    }

    /// The outputs that have rows, with the number of their elements: continuous ones of type `Float64`, in the order of
    /// `<ModelStructure>`; of FMI 1.0 in that of the variables.
    pub fn outputs(&self) -> &[(ValueReference, usize)] {
        &self.outputs
    }

    /// Rows of the matrix.
    pub fn rows(&self) -> usize {
        self.states + self.outputs.iter().map(|(_, elements)| elements).sum::<usize>()
    }

    /// The places, by row and column, that may be other than 0.
    pub fn places(&self) -> &[(usize, usize)] {
        &self.places
    }

    /// The number of directional derivatives for the matrix, or of evaluations of derivatives and outputs.
    pub fn calls(&self) -> usize {
        match &self.way {
            Way::Directional { pattern, .. } => pattern.calls(),
            Way::Differences(differences) => 1 + differences.colours.len(),
        }
    }

    /// r = f(t, x, u) − ẋ, one for each state. A result that was discarded leaves nothing in `residual` that means anything.
    ///
    /// # Panics
    /// If there are not as many derivatives, or not as much room, as there are states.
    pub fn residual(
        &self,
        at: &mut ContinuousTime,
        derivatives: &[f64],
        residual: &mut [f64],
    ) -> Result<Attempt, Failure> {
        assert_eq!((derivatives.len(), residual.len()), (self.states, self.states), "one for each state");
        let attempt = at.derivatives(residual)?;
        for (residual, assumed) in residual.iter_mut().zip(derivatives) {
            *residual -= assumed;
        }
        Ok(attempt)
    }

    /// The matrix at the point that was told last, by row. Differences move the states and put them back.
    ///
    /// # Panics
    /// If there is not as much room as the matrix has elements.
    pub fn jacobian(&mut self, at: &mut ContinuousTime, matrix: &mut [f64]) -> Result<Attempt, DerivativeError> {
        assert_eq!(matrix.len(), self.rows() * self.states, "an element for each row and column");
        matrix.fill(0.0);
        match &mut self.way {
            Way::Directional { pattern, values } => {
                let outcome = match pattern.read(at, values) {
                    Ok(outcome) => outcome,
                    Err(DerivativeError::Failed(failure)) if failure.status == Status::Discard && !failure.refused => {
                        return Ok(Attempt::Discarded(failure));
                    }
                    Err(error) => return Err(error),
                };
                for (&(row, column), value) in self.places.iter().zip(values) {
                    matrix[row * self.states + column] = *value;
                }
                Ok(Attempt::Done(outcome))
            }
            Way::Differences(differences) => Ok(differences.read(at, matrix)?),
        }
    }
}

impl Differences {
    fn read(&mut self, at: &mut ContinuousTime, matrix: &mut [f64]) -> Result<Attempt, Failure> {
        let mut outcome = at.states(&mut self.states)?.or(self.look_at_nominals(at)?);
        match evaluate(at, &mut self.outputs, &mut self.here)? {
            Attempt::Done(done) => outcome = outcome.or(done),
            discarded => return Ok(discarded),
        }
        for colour in 0..self.colours.len() {
            self.moved.copy_from_slice(&self.states);
            for &(column, _) in &self.colours[colour] {
                self.moved[column] += self.distance(column);
            }
            let beside = match at.set_states(&self.moved)? {
                Attempt::Done(_) => evaluate(at, &mut self.outputs, &mut self.there)?,
                discarded => discarded,
            };
            let back = at.set_states(&self.states)?;
            for attempt in [beside, back] {
                match attempt {
                    Attempt::Done(done) => outcome = outcome.or(done),
                    discarded => return Ok(discarded),
                }
            }
            for (column, rows) in &self.colours[colour] {
                // What was really added, after rounding.
                let distance = self.moved[*column] - self.states[*column];
                for &row in rows {
                    matrix[row * self.states.len() + column] = (self.there[row] - self.here[row]) / distance;
                }
            }
        }
        Ok(Attempt::Done(outcome))
    }

    /// The sizes of the states: 1 where the FMU does not say, or nothing that can be a size.
    fn look_at_nominals(&mut self, at: &mut ContinuousTime) -> Result<Outcome, Failure> {
        self.nominals.fill(1.0);
        let outcome = match at.nominals(&mut self.nominals) {
            Err(failure) if failure.status == Status::Discard => {
                self.nominals.fill(1.0);
                Outcome::Ok
            }
            told => told?,
        };
        for nominal in &mut self.nominals {
            if !(nominal.is_finite() && *nominal > 0.0) {
                *nominal = 1.0;
            }
        }
        Ok(outcome)
    }

    /// Displacement of a state for a difference quotient: in the direction of its derivative, where the FMU is less
    /// likely to refuse.
    fn distance(&self, column: usize) -> f64 {
        let distance = DISTANCE * self.states[column].abs().max(self.nominals[column]);
        if self.here[column] < 0.0 { -distance } else { distance }
    }
}

/// Derivatives and outputs at the point that was told last.
fn evaluate(at: &mut ContinuousTime, outputs: &mut Batch, values: &mut [f64]) -> Result<Attempt, Failure> {
    let (derivatives, rest) = values.split_at_mut(values.len() - outputs.len());
    let mut outcome = match at.derivatives(derivatives)? {
        Attempt::Done(done) => done,
        discarded => return Ok(discarded),
    };
    match at.get(outputs)? {
        Attempt::Done(done) => outcome = outcome.or(done),
        discarded => return Ok(discarded),
    }
    for (element, value) in rest.iter_mut().enumerate() {
        *value = f64::from_bits(outputs.word(element));
    }
    Ok(Attempt::Done(outcome))
}
