//! The states in which variables are set and read: one table for all versions.
//!
//! FMI 3.0 says it at each state (2.3.2, 2.3.3, 2.3.5, 2.3.6, 3.2.1, 4.2.1, 5.2.1), FMI 2.0 in 2.2.7 and in its tables of calls (3.2.3,
//! 4.2.4). In FMI 1.0 start values are set before `fmiInitialize`, and inputs at any time. Where the words on `discrete` and `tunable`
//! (FMI 3.0, 2.4.7.4) are narrower than the list of a state, the list counts, as 2.2.7.2 has it. Whether the clock of a clocked variable is
//! active is not asked here.

use vecud_description::{
    Abi, Causality, Initial, Interface, ModelDescription, Variability, Variable, VariableKey, VariableType,
};
use vecud_runner::by_hand::FmiState;

/// Whether a variable can be set in a state in which variables are set at all.
pub fn can_be_set(description: &ModelDescription, interface: Interface, variable: &Variable, state: FmiState) -> bool {
    let abi = description.abi;
    let is_input = variable.causality == Causality::Input;
    let is_tunable_parameter =
        variable.causality == Causality::Parameter && variable.variability == Variability::Tunable;
    if variable.variability == Variability::Constant {
        return false;
    }
    if variable.causality == Causality::StructuralParameter {
        return state == FmiState::ConfigurationMode;
    }
    match (state, abi) {
        // In Configuration Mode structural parameters alone are set; in the others nothing is.
        (
            FmiState::ConfigurationMode
            | FmiState::NoInstance
            | FmiState::Terminated
            | FmiState::Failed
            | FmiState::Fatal,
            _,
        ) => false,
        // FMI 1.0 initialises with one call, and sets inputs alone after it.
        (FmiState::Instantiated, Abi::Fmi1) => starts(variable, true),
        (_, Abi::Fmi1) => is_input,
        (FmiState::Instantiated, _) => {
            starts(variable, true) && !(is_input && abi.sets_inputs_in_initialization_mode_alone())
        }
        (FmiState::InitializationMode, _) => starts(variable, false),
        (FmiState::EventMode, Abi::Fmi2) => is_input || is_tunable_parameter,
        (FmiState::EventMode, _) => {
            let is_own = interface == Interface::ModelExchange && !variable.reinit;
            is_input || is_tunable_parameter || is_own && is_continuous_state(description, variable)
        }
        (FmiState::ContinuousTimeMode, _) => {
            is_input && variable.variability == Variability::Continuous || is_continuous_state(description, variable)
        }
        (FmiState::StepMode | FmiState::ClockActivationMode | FmiState::PartitionActivated, _) => {
            is_input || is_tunable_parameter
        }
    }
}

/// Whether a variable can be read, in a state in which variables are read at all. In FMI 2.0 no variable is read before Initialization
/// Mode, and in it only outputs and initial unknowns are (2.0.5, 3.2.3 and 4.2.4); a reference that such a variable has, too, is read
/// under any name.
pub fn can_be_read(description: &ModelDescription, variable: &Variable, state: FmiState) -> bool {
    let key = |own: &Variable| VariableKey::from((own.variable_type, own.value_reference));
    let is_listed =
        |own: VariableKey| description.structure.initial_unknowns.iter().any(|unknown| unknown.variable == own);
    match (description.abi, state) {
        (Abi::Fmi2, FmiState::Instantiated) => false,
        (Abi::Fmi2, FmiState::InitializationMode) => {
            let is_output = |other: &Variable| other.causality == Causality::Output && key(other) == key(variable);
            is_listed(key(variable)) || description.variables.iter().any(is_output)
        }
        _ => true,
    }
}

/// Whether the value that a variable begins with comes from outside, be it (`guesses`) as a guess only.
fn starts(variable: &Variable, guesses: bool) -> bool {
    match variable.initial {
        Some(Initial::Exact) => true,
        Some(Initial::Approx) => guesses,
        Some(Initial::Calculated) | None => false,
    }
}

fn is_continuous_state(description: &ModelDescription, variable: &Variable) -> bool {
    let is_float = matches!(variable.variable_type, VariableType::Float64 | VariableType::Float32);
    let is_derivative = |other: &Variable| other.derivative == Some(variable.value_reference);
    is_float && description.variables.iter().any(is_derivative)
}

/// Which variables one belongs to, as far as it matters here: `a fixed parameter`, `a continuous output with initial = "exact"`.
pub fn class_of(variable: &Variable) -> String {
    let class = format!("a {} {}", variable.variability.name(), variable.causality.name());
    let initial = match (variable.causality, variable.initial) {
        (Causality::Output | Causality::Local | Causality::CalculatedParameter, Some(initial)) => initial,
        _ => return class,
    };
    let word = match initial {
        Initial::Exact => "exact",
        Initial::Approx => "approx",
        Initial::Calculated => "calculated",
    };
    format!("{class} with initial = \"{word}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A letter for each state in which a variable can be set.
    const LETTERS: [(char, FmiState); 7] = [
        ('i', FmiState::Instantiated),
        ('c', FmiState::ConfigurationMode),
        ('n', FmiState::InitializationMode),
        ('e', FmiState::EventMode),
        ('t', FmiState::ContinuousTimeMode),
        ('s', FmiState::StepMode),
        ('a', FmiState::ClockActivationMode),
    ];

    #[track_caller]
    fn check(xml: &str, interface: Interface, wanted: &[(&str, &str)]) {
        let description = vecud_description::parse(xml).unwrap();
        assert_eq!(description.variables.len(), wanted.len());
        for (name, letters) in wanted {
            let variable = description.variable(name).unwrap();
            let is_set = |state: FmiState| can_be_set(&description, interface, variable, state);
            let own: String = LETTERS.iter().filter(|(_, state)| is_set(*state)).map(|(letter, _)| letter).collect();
            assert_eq!(own, *letters, "{name}, {}, {interface:?}", class_of(variable));
            let never = [FmiState::NoInstance, FmiState::Terminated, FmiState::Failed, FmiState::Fatal];
            assert!(never.into_iter().all(|state| !is_set(state)), "{name}");
        }
    }

    const FMI3: &str = r#"<fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="t">
        <ModelExchange modelIdentifier="m"/><CoSimulation modelIdentifier="m"/>
        <ModelVariables>
            <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
            <UInt64 name="size" valueReference="1" causality="structuralParameter" variability="tunable" start="1"/>
            <Float64 name="fixed" valueReference="2" causality="parameter" variability="fixed" start="1"/>
            <Float64 name="tunable" valueReference="3" causality="parameter" variability="tunable" start="1"/>
            <Float64 name="calculated" valueReference="4" causality="calculatedParameter" variability="fixed" initial="approx" start="1"/>
            <Float64 name="u" valueReference="5" causality="input" start="1"/>
            <Int32 name="d" valueReference="6" causality="input" start="1"/>
            <Float64 name="x" valueReference="7" causality="output" initial="exact" start="1"/>
            <Float64 name="r" valueReference="8" initial="approx" start="1" reinit="true"/>
            <Float64 name="der(x)" valueReference="9" derivative="7"/>
            <Float64 name="der(r)" valueReference="10" derivative="8"/>
            <Float64 name="y" valueReference="11" causality="output"/>
            <Float64 name="constant" valueReference="12" variability="constant" start="1"/>
        </ModelVariables>
        <ModelStructure>
            <Output valueReference="7"/><Output valueReference="11"/>
            <ContinuousStateDerivative valueReference="9"/><ContinuousStateDerivative valueReference="10"/>
        </ModelStructure>
    </fmiModelDescription>"#;

    #[test]
    fn in_fmi_3_each_state_has_its_list() {
        let of = |x: &'static str, r: &'static str, tunable: &'static str, u: &'static str, d: &'static str| {
            [
                ("time", ""),
                ("size", "c"),
                ("fixed", "in"),
                ("tunable", tunable),
                ("calculated", "i"),
                ("u", u),
                ("d", d),
                ("x", x),
                ("r", r),
                ("der(x)", ""),
                ("der(r)", ""),
                ("y", ""),
                ("constant", ""),
            ]
        };
        // A state that the FMU itself sets anew in events (`reinit`) is not set there; only Model Exchange sets states of equations.
        check(FMI3, Interface::ModelExchange, &of("inet", "it", "inesa", "inetsa", "inesa"));
        check(FMI3, Interface::CoSimulation, &of("int", "it", "inesa", "inetsa", "inesa"));
    }

    #[test]
    fn in_fmi_2_inputs_wait_for_initialization_mode_and_states_for_continuous_time_mode() {
        let xml = r#"<fmiModelDescription fmiVersion="2.0" modelName="m" guid="t" numberOfEventIndicators="0">
            <ModelExchange modelIdentifier="m"/>
            <ModelVariables>
                <ScalarVariable name="x" valueReference="0" initial="exact"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="der(x)" valueReference="1"><Real derivative="1"/></ScalarVariable>
                <ScalarVariable name="u" valueReference="2" causality="input"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="d" valueReference="0" causality="input" variability="discrete"><Integer start="0"/></ScalarVariable>
                <ScalarVariable name="fixed" valueReference="3" causality="parameter" variability="fixed"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="tunable" valueReference="4" causality="parameter" variability="tunable"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="y" valueReference="5" causality="output"><Real/></ScalarVariable>
            </ModelVariables>
            <ModelStructure>
                <Outputs><Unknown index="7"/></Outputs><Derivatives><Unknown index="2"/></Derivatives>
            </ModelStructure>
        </fmiModelDescription>"#;
        let wanted = [
            ("x", "int"),
            ("der(x)", ""),
            ("u", "netsa"),
            ("d", "nesa"),
            ("fixed", "in"),
            ("tunable", "inesa"),
            ("y", ""),
        ];
        check(xml, Interface::ModelExchange, &wanted);
    }

    #[test]
    fn in_fmi_2_outputs_and_initial_unknowns_are_read_in_initialization_mode_and_nothing_before_it() {
        let xml = r#"<fmiModelDescription fmiVersion="2.0" modelName="m" guid="t" numberOfEventIndicators="0">
            <ModelExchange modelIdentifier="m"/>
            <ModelVariables>
                <ScalarVariable name="x" valueReference="0" initial="exact"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="der(x)" valueReference="1" initial="calculated"><Real derivative="1"/></ScalarVariable>
                <ScalarVariable name="w" valueReference="2" initial="calculated"><Real/></ScalarVariable>
                <ScalarVariable name="y" valueReference="3" causality="output"><Real/></ScalarVariable>
                <ScalarVariable name="alias" valueReference="3" initial="calculated"><Real/></ScalarVariable>
                <ScalarVariable name="u" valueReference="3" causality="input" variability="discrete"><Integer start="0"/></ScalarVariable>
            </ModelVariables>
            <ModelStructure>
                <Outputs><Unknown index="4"/></Outputs><Derivatives><Unknown index="2"/></Derivatives>
                <InitialUnknowns><Unknown index="2"/><Unknown index="4"/></InitialUnknowns>
            </ModelStructure>
        </fmiModelDescription>"#;
        let description = vecud_description::parse(xml).unwrap();
        let read = |state| {
            let own = description.variables.iter().filter(|variable| can_be_read(&description, variable, state));
            own.map(|variable| variable.name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(read(FmiState::Instantiated), [""; 0]);
        assert_eq!(read(FmiState::InitializationMode), ["der(x)", "y", "alias"]);
        assert_eq!(read(FmiState::EventMode), ["x", "der(x)", "w", "y", "alias", "u"]);
        // All other versions have everything read.
        let other = vecud_description::parse(FMI3).unwrap();
        assert!(other.variables.iter().all(|own| can_be_read(&other, own, FmiState::Instantiated)));
    }

    #[test]
    fn in_fmi_1_start_values_are_set_before_the_initialisation_and_inputs_at_any_time() {
        let xml = r#"<fmiModelDescription fmiVersion="1.0" modelName="m" modelIdentifier="m" guid="t" numberOfContinuousStates="1"
            numberOfEventIndicators="0">
            <ModelVariables>
                <ScalarVariable name="x" valueReference="0"><Real start="0" fixed="true"/></ScalarVariable>
                <ScalarVariable name="guess" valueReference="1"><Real start="0" fixed="false"/></ScalarVariable>
                <ScalarVariable name="p" valueReference="2" variability="parameter"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="c" valueReference="3" variability="constant"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="u" valueReference="4" causality="input"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="d" valueReference="5" causality="input" variability="discrete"><Real start="0"/></ScalarVariable>
                <ScalarVariable name="y" valueReference="6" causality="output"><Real/></ScalarVariable>
            </ModelVariables>
        </fmiModelDescription>"#;
        // There is no Initialization Mode, and no other mode either: Continuous-Time and Event Mode are the importer's own words.
        let any = "inetsa";
        let wanted = [("x", "i"), ("guess", "i"), ("p", "i"), ("c", ""), ("u", any), ("d", any), ("y", "")];
        check(xml, Interface::ModelExchange, &wanted);
    }
}
