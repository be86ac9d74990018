//! The implicit form that the library makes of an FMU's equations: residuals, and the matrix of derivatives and outputs with respect to
//! the states, by as few calls as can be.

use crate::equations::importer::folder;
use crate::equations::models::linear;
use std::path::Path;
use std::sync::Arc;
use vecud::ffi::{
    Attempt, Batch, ForeignCall, ImplicitForm, InstanceControl, InstanceHost, Library, MadeFor, Model, Numbers,
    Outcome, Status,
};
use vecud::fmu::archive::{Cache, Unpacked};
use vecud::fmu::description::{self, Interface, ModelDescription, ValueReference, VariableType};

const DONE: Attempt = Attempt::Done(Outcome::Ok);

struct Host;

impl InstanceHost for Host {
    fn log(&self, status: Status, _: Option<&[u8]>, message: &[u8]) {
        println!("{status:?}: {}", String::from_utf8_lossy(message));
    }

    fn foreign_call(&self, _: ForeignCall) {}
}

/// The equations of an example, in Continuous-Time Mode at 0.
struct Equations {
    description: ModelDescription,
    model: Model,
    control: InstanceControl,
}

impl Equations {
    fn of(name: &str) -> Equations {
        let cache = Cache::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        let unpacked = Unpacked::open(&folder(name), &cache).unwrap();
        let description = description::parse(&unpacked.model_description().unwrap()).unwrap();
        let offers = &description.interfaces;
        let offer = offers.iter().find(|offer| offer.interface() == Interface::ModelExchange).unwrap();
        let file = unpacked.library_of(description.abi, offer, &Default::default(), &cache).unwrap();
        let library = Arc::new(Library::load(&file, description.abi, offer.interface()).unwrap());
        let token = &description.instantiation_token;
        let instance = library.instantiate(&MadeFor::ModelExchange, name, token, None, false, Arc::new(Host)).unwrap();
        let instance = instance.enter_initialization_mode(0.0, None, None).unwrap().exit_initialization_mode().unwrap();
        let form = ImplicitForm::of(&description).unwrap();
        let indicators = description.number_of_event_indicators.unwrap_or(0) as usize;
        let numbers = Numbers { states: form.states(), event_indicators: indicators };
        let (control, mut model) = instance.into_model(numbers);
        while model.event_mode().unwrap().update().unwrap().needs_update {}
        model.enter_continuous_time_mode().unwrap();
        Equations { description, model, control }
    }

    fn form(&self) -> ImplicitForm {
        ImplicitForm::of(&self.description).unwrap()
    }

    /// How often the FMU was asked for something that it counts.
    fn counted(&mut self, name: &str) -> i64 {
        let reference = self.description.variable(name).unwrap().value_reference;
        let mut batch = Batch::new(VariableType::Int32, vec![(reference, 1)]);
        assert_eq!(self.model.continuous_time().unwrap().get(&mut batch), Ok(DONE));
        batch.word(0) as i64
    }

    fn matrix(&mut self, form: &mut ImplicitForm) -> Vec<f64> {
        let mut matrix = vec![f64::NAN; form.rows() * form.states()];
        assert_eq!(form.jacobian(&mut self.model.continuous_time().unwrap(), &mut matrix), Ok(DONE));
        matrix
    }

    fn end(self) {
        self.control.terminate(vec![self.model]).unwrap();
    }
}

/// What `linear` says its matrices are, states above outputs.
#[track_caller]
fn is_linear(matrix: &[f64], precision: f64) {
    assert_eq!(matrix.len(), 15 * 12);
    for (place, value) in matrix.iter().enumerate() {
        let (row, column) = (place / 12, place % 12);
        let right = if row < 12 { linear('A', row, column) } else { linear('C', row - 12, column) };
        assert!((value - right).abs() <= precision, "({row}, {column}): {value}, not {right}");
    }
}

/// Each column of the linear system but one has three rows or four: five colours in place of twelve columns.
#[test]
fn directional_derivatives_give_a_and_c_by_fewer_calls_than_there_are_states() {
    let mut fmu = Equations::of("linear");
    let mut form = fmu.form();
    assert_eq!((form.states(), form.rows(), form.outputs().len()), (12, 15, 3));
    let calls = form.calls();
    assert!(calls < 7, "{calls}");
    is_linear(&fmu.matrix(&mut form), 1e-12);
    assert_eq!(fmu.counted("directional_derivatives"), calls as i64);
    assert_eq!(fmu.counted("right_hand_sides"), 0);

    // The same matrix where nothing is known of dependencies.
    let without =
        |unknowns: &mut Vec<description::Unknown>| unknowns.iter_mut().for_each(|own| own.dependencies = None);
    let mut description = fmu.description.clone();
    without(&mut description.structure.outputs);
    without(&mut description.structure.continuous_state_derivatives);
    let mut dense = ImplicitForm::of(&description).unwrap();
    assert_eq!(dense.calls(), 12);
    let [sparse, dense] = [&mut form, &mut dense].map(|form| fmu.matrix(form));
    assert_eq!(sparse, dense);
    assert_eq!(fmu.counted("directional_derivatives"), (2 * calls + 12) as i64);
    fmu.end();
}

#[test]
fn differences_give_them_too_and_leave_the_states_where_they_were() {
    let mut fmu = Equations::of("linear");
    let mut form = fmu.form().by_differences();
    let x: Vec<f64> = (0..12).map(|i| 0.3 - f64::from(i)).collect();
    assert_eq!(fmu.model.continuous_time().unwrap().set_states(&x), Ok(DONE));
    is_linear(&fmu.matrix(&mut form), 1e-6);
    assert_eq!(fmu.counted("directional_derivatives"), 0);
    assert_eq!(fmu.counted("right_hand_sides"), form.calls() as i64);
    assert!(form.calls() < 8, "{}", form.calls());
    let mut after = vec![0.0; 12];
    assert_eq!(fmu.model.continuous_time().unwrap().states(&mut after), Ok(Outcome::Ok));
    assert_eq!(after, x);
    fmu.end();
}

#[test]
fn the_residual_is_what_is_left_over_of_the_derivatives() {
    let mut fmu = Equations::of("linear");
    let form = fmu.form();
    let mut at = fmu.model.continuous_time().unwrap();
    let (x, mut right, mut residual) = (vec![0.5; 12], vec![0.0; 12], vec![0.0; 12]);
    assert_eq!((at.set_time(0.25), at.set_states(&x)), (Ok(DONE), Ok(DONE)));
    let mut inputs = Batch::new(VariableType::Float64, vec![(ValueReference(300), 1)]);
    inputs.set_word(0, 4.0_f64.to_bits());
    assert_eq!((at.set(&inputs), at.derivatives(&mut right)), (Ok(DONE), Ok(DONE)));
    let f = |row: usize| (0..12).map(|column| linear('A', row, column) * 0.5).sum::<f64>() + linear('B', row, 0) * 4.0;
    let assumed: Vec<f64> = (0..12).map(|row| f(row) - f64::from(row as u32)).collect();
    assert_eq!(form.residual(&mut at, &assumed, &mut residual), Ok(DONE));
    for (row, left) in residual.iter().enumerate() {
        assert!((left - row as f64).abs() < 1e-12, "{row}: {left}");
    }
    assert_eq!(form.residual(&mut at, &right, &mut residual), Ok(DONE));
    assert_eq!(residual, [0.0; 12]);
    fmu.end();
}

/// The spring of FMI 2.0, whose references of variables belong to a type, and the ball of FMI 1.0, which says nothing of its states.
#[test]
fn earlier_versions_have_it_as_well() {
    let mut fmu = Equations::of("spring_fmi2");
    let (mut own, mut differences) = (fmu.form(), fmu.form().by_differences());
    let [own, other] = [&mut own, &mut differences].map(|form| fmu.matrix(form));
    assert!(own.iter().any(|value| *value != 0.0), "{own:?}");
    for (own, other) in own.iter().zip(&other) {
        assert!((own - other).abs() <= 1e-5 * own.abs().max(1.0), "{own} {other}");
    }
    fmu.end();

    let mut fmu = Equations::of("ball_fmi1");
    let mut form = fmu.form();
    assert_eq!((form.states(), form.calls()), (2, 3));
    let matrix = fmu.matrix(&mut form);
    // Height and speed: ḣ = v, v̇ = −g.
    for (value, right) in matrix.iter().zip([0.0, 1.0, 0.0, 0.0]) {
        assert!((value - right).abs() < 1e-7, "{matrix:?}");
    }
    fmu.end();
}
