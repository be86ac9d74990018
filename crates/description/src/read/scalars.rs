//! The common part of FMI 1.0 and 2.0: scalar variables and types whose kind is a child element (`<Real>`, in types of
//! FMI 1.0 `<RealType>`), and aliases by value reference.
//!
//! | element | type here | values here |
//! |---|---|---|
//! | `Real` | `Float64` | `Float64` |
//! | `Integer` | `Int32` | `Int32` |
//! | `Boolean`, `String` | the same | the same |
//! | `Enumeration` | the same | `Int64`, each in the range of an `Int32`, which their C functions take |

use super::shared::{self, SharedAttributes};
use crate::lexical::Scalar as ScalarValue;
use crate::model::{
    AliasOf, Causality, DescriptionError, EnumerationItem, Index, Initial, TypeDefinition, ValueReference, Values,
};
use crate::model::{Variability, Variable, VariableType};
use crate::units::Units;
use crate::xml::{Attribute, Element, for_each};
use std::collections::{HashMap, HashSet};

const KINDS: [(&str, VariableType); 5] = [
    ("Real", VariableType::Float64),
    ("Integer", VariableType::Int32),
    ("Boolean", VariableType::Boolean),
    ("String", VariableType::String),
    ("Enumeration", VariableType::Enumeration),
];

/// The standard's name of a type of FMI 1.0 and 2.0.
fn kind_name(variable_type: VariableType) -> &'static str {
    KINDS.iter().find(|(_, other)| *other == variable_type).map_or("?", |(name, _)| name)
}

/// The child that gives the type of its parent: an element of one of the five names, with `suffix` behind. Other
/// children get a warning, unless their names are in `besides`.
fn kind<'a>(
    element: Element<'a>,
    suffix: &str,
    besides: &[&str],
) -> Result<(Element<'a>, VariableType), DescriptionError> {
    let mut found: Option<(Element<'a>, VariableType)> = None;
    for child in element.children() {
        let name = child.name().strip_suffix(suffix);
        match name.and_then(|name| KINDS.iter().find(|(kind, _)| *kind == name)) {
            Some(_) if found.is_some() => {
                return Err(child.error(format!("{}: has a type already", element.label())));
            }
            Some((_, variable_type)) => found = Some((child, *variable_type)),
            None if besides.contains(&child.name()) => {}
            None => child.warn_unknown(element),
        }
    }
    found.ok_or_else(|| {
        let names = KINDS.map(|(name, _)| format!("<{name}{suffix}>")).join(", ");
        element.error(format!("{}: has none of {names}", element.label()))
    })
}

/// The types of `<TypeDefinitions>`, found by name.
#[derive(Default)]
pub(super) struct ScalarTypes<'a> {
    pub(super) list: Vec<TypeDefinition>,
    by_name: HashMap<&'a str, usize>,
    items: HashMap<&'a str, HashSet<i64>>,
    /// Whether some types could not be read while all errors are collected: variables may name them.
    is_partial: bool,
}

/// The words of a version for types.
pub(super) struct TypeWords {
    /// The element of a type.
    pub(super) element: &'static str,
    /// The suffix of the names of the five kinds.
    pub(super) suffix: &'static str,
    /// Whether the items of an enumeration have values; else they count from 1.
    pub(super) has_values: bool,
}

impl<'a> ScalarTypes<'a> {
    /// No types; `is_partial`: there may be some that could not be read.
    pub(super) fn none(is_partial: bool) -> ScalarTypes<'a> {
        ScalarTypes { is_partial, ..ScalarTypes::default() }
    }

    pub(super) fn read(
        definitions: Element<'a>,
        words: &TypeWords,
        units: &Units,
    ) -> Result<ScalarTypes<'a>, DescriptionError> {
        let mut types = ScalarTypes::default();
        for_each(definitions.children(), |element| {
            if element.name() != words.element {
                element.warn_unknown(definitions);
                return Ok(());
            }
            element.warn_of_unknown_attributes(&[&["name", "description"]]);
            let name = element.label_name()?;
            if types.by_name.contains_key(name) {
                let twice = format!("{}: a type with this name exists already", element.label());
                return element.overlook(element.error(twice));
            }
            let (own, variable_type) = kind(element, words.suffix, &[])?;
            own.warn_of_unknown_attributes(&[shared::attribute_names(variable_type)]);
            let attributes = SharedAttributes::read(own, variable_type)?;
            attributes.check(own, units);
            let items = items(own, variable_type, words.has_values)?;
            if variable_type == VariableType::Enumeration {
                if items.is_empty() {
                    element.warn(format!("{}: an enumeration without an <Item>", element.label()));
                }
                types.items.insert(name, items.iter().map(|item| item.value).collect());
            }
            types.by_name.insert(name, types.list.len());
            types.list.push(attributes.definition(name, element.text("description"), variable_type, items));
            Ok(())
        })?;
        Ok(types)
    }

    /// The type that the element `own` of a variable declares; an error if it does not exist or is of another kind.
    fn declared(
        &self,
        own: Element<'_>,
        variable_type: VariableType,
    ) -> Result<Option<&TypeDefinition>, DescriptionError> {
        let Some(attribute) = own.attribute("declaredType") else { return Ok(None) };
        match self.by_name.get(attribute.value).map(|&position| &self.list[position]) {
            None if self.is_partial => Ok(None),
            None => own.overlook(attribute.error("is no type of <TypeDefinitions>")).map(|()| None),
            Some(definition) if definition.variable_type != variable_type => {
                let other = format!("is a type of {}", kind_name(definition.variable_type));
                own.overlook(attribute.error(other)).map(|()| None)
            }
            definition => Ok(definition),
        }
    }
}

fn items(
    own: Element<'_>,
    variable_type: VariableType,
    has_values: bool,
) -> Result<Vec<EnumerationItem>, DescriptionError> {
    let mut items: Vec<EnumerationItem> = Vec::new();
    let (mut names, mut values) = (HashSet::new(), HashSet::new());
    for child in own.children() {
        if child.name() != "Item" || variable_type != VariableType::Enumeration {
            child.warn_unknown(own);
            continue;
        }
        let known: &[&str] = if has_values { &["name", "value", "description"] } else { &["name", "description"] };
        child.warn_of_unknown_attributes(&[known]);
        let value = match has_values {
            true => child.required("value")?.scalar::<i32>()?.into(),
            false => items.len() as i64 + 1,
        };
        let name = child.label_name()?;
        if !names.insert(name) {
            child.warn(format!("{}: given twice", child.label()));
        }
        if !values.insert(value) {
            child.overlook(child.error(format!("{}: value {value} is given twice", child.label())))?;
            continue;
        }
        items.push(EnumerationItem { name: name.to_owned(), value, description: child.text("description") });
    }
    Ok(items)
}

/// A scalar variable with the attributes that both versions share; its reader adds the rest.
pub(super) struct ScalarVariable<'a> {
    /// The variable, with the defaults of attributes that only one version has.
    pub(super) variable: Variable,
    /// The child element that gives its type.
    pub(super) own: Element<'a>,
}

/// Reads a `<ScalarVariable>`. `known`: its attributes; `besides`: its children beside the one that gives its type.
pub(super) fn read<'a>(
    element: Element<'a>,
    known: &[&str],
    own_known: &[&str],
    besides: &[&str],
    types: &ScalarTypes<'a>,
    units: &Units,
) -> Result<ScalarVariable<'a>, DescriptionError> {
    const REAL: [&str; 2] = ["derivative", "reinit"];
    element.warn_of_unknown_attributes(&[&["name", "valueReference", "description"], known]);
    let name = element.unique_name()?;
    let value_reference = element.required("valueReference")?.scalar::<ValueReference>()?;
    let (own, variable_type) = kind(element, "", besides)?;
    let is_real = variable_type == VariableType::Float64;
    let own_known: Vec<&str> = own_known.iter().copied().filter(|name| is_real || !REAL.contains(name)).collect();
    own.warn_of_unknown_attributes(&[&["declaredType", "start"], shared::attribute_names(variable_type), &own_known]);
    own.children().for_each(|child| child.warn_unknown(own));
    let declared = types.declared(own, variable_type)?;
    if declared.is_none() && variable_type == VariableType::Enumeration {
        own.warn(format!("{}: an <Enumeration> without `declaredType`", element.label()));
    }
    let written = SharedAttributes::read(own, variable_type)?;
    let says_nothing = written.unit.is_none() && written.display_unit.is_none();
    let says_nothing = says_nothing && written.min.is_none() && written.max.is_none() && written.nominal.is_none();
    let shared = match declared {
        Some(declared) => written.or(declared),
        None => written,
    };
    // The attributes of its type were checked there.
    if !says_nothing {
        shared.check(own, units);
    }
    let start = start(own, variable_type)?;
    if let (Some(definition), Some(Values::Int64(start))) = (declared, &start)
        && let Some(items) = types.items.get(&*definition.name)
        && !items.contains(&start[0])
    {
        own.warn(format!("{}: start {} is no item of {:?}", element.label(), start[0], definition.name));
    }
    shared.check_start(element, own, start.as_ref());
    let (line, column) = element.place();
    let variable = Variable {
        name: name.to_owned(),
        value_reference,
        variable_type,
        description: element.text("description"),
        causality: Causality::Local,
        variability: Variability::Continuous,
        initial: None,
        can_handle_multiple_set_per_time_instant: true,
        intermediate_update: false,
        previous: None,
        clocks: Vec::new(),
        clock_element: 0,
        dimensions: Vec::new(),
        declared_type: declared.map(|declared| declared.name.clone()),
        start,
        aliases: Vec::new(),
        alias_of: None,
        quantity: shared.quantity,
        unit: shared.unit,
        display_unit: shared.display_unit,
        relative_quantity: shared.relative_quantity.unwrap_or(false),
        unbounded: shared.unbounded.unwrap_or(false),
        min: shared.min,
        max: shared.max,
        nominal: shared.nominal,
        derivative: None,
        reinit: false,
        mime_type: None,
        max_size: None,
        clock: None,
        line,
        column,
    };
    Ok(ScalarVariable { variable, own })
}

/// An attribute, unless it is empty: some generators write empty ones.
pub(super) fn written<'a>(own: Element<'a>, name: &str) -> Option<Attribute<'a>> {
    let attribute = own.attribute(name)?;
    if attribute.value.trim_ascii().is_empty() {
        attribute.warn("is empty and ignored");
        return None;
    }
    Some(attribute)
}

/// A flag; false if it is missing or empty.
pub(super) fn flag(element: Element<'_>, name: &str) -> Result<bool, DescriptionError> {
    Ok(scalar(element, name)?.unwrap_or(false))
}

/// An optional number or boolean; `None` if it is missing or empty.
pub(super) fn scalar<T: ScalarValue>(element: Element<'_>, name: &str) -> Result<Option<T>, DescriptionError> {
    written(element, name).map_or(Ok(None), Attribute::optional_scalar)
}

/// `start`, one value.
fn start(own: Element<'_>, variable_type: VariableType) -> Result<Option<Values>, DescriptionError> {
    Ok(match variable_type {
        VariableType::Float64 => scalar(own, "start")?.map(|start| Values::Float64(vec![start])),
        VariableType::Int32 => scalar(own, "start")?.map(|start| Values::Int32(vec![start])),
        VariableType::Boolean => scalar(own, "start")?.map(|start| Values::Boolean(vec![start])),
        VariableType::Enumeration => scalar::<i32>(own, "start")?.map(|start| Values::Int64(vec![start.into()])),
        _ => own.text("start").map(|start| Values::String(vec![start])),
    })
}

/// The index of variables. Of several variables with one name, all but one are renamed, with a warning, if they are internal, since nobody
/// uses those: inputs, outputs and parameters keep their names. Two of these with one name are an error.
pub(super) fn index(variables: &mut [Variable], elements: &[Element<'_>]) -> Result<Index, DescriptionError> {
    let index = Index::of(variables);
    if index.duplicate_name(variables).is_none() {
        return Ok(index);
    }
    let is_internal = |v: &Variable| {
        matches!(v.causality, Causality::Local | Causality::CalculatedParameter | Causality::Independent)
    };
    let mut owners: HashMap<String, usize> = HashMap::new();
    let mut twins = Vec::new();
    for (position, own) in variables.iter().enumerate() {
        let Some(&owner) = owners.get(&own.name) else {
            owners.insert(own.name.clone(), position);
            continue;
        };
        let (keeps, renamed) = match (is_internal(own), is_internal(&variables[owner])) {
            (false, true) => (position, owner),
            _ => (owner, position),
        };
        if !is_internal(&variables[renamed]) {
            let name = elements[position].required("name")?;
            elements[position]
                .overlook(name.error(format!("is the name of line {} already", variables[owner].line)))?;
        }
        owners.insert(own.name.clone(), keeps);
        twins.push((renamed, own.name.clone()));
    }
    for (position, name) in twins {
        let mut free = (2..).map(|number| format!("{name}#{number}"));
        let Some(own) = free.find(|own| !owners.contains_key(own)) else { continue };
        let line = variables[owners[&name]].line;
        elements[position]
            .required("name")?
            .warn(format!("is the name of line {line}, too: this variable is called {own:?} here"));
        owners.insert(own.clone(), position);
        variables[position].name = own;
    }
    Ok(Index::of(variables))
}

/// Makes the first variable of each base type and reference the root of all later ones, which become its aliases.
/// `negated`: whether a variable has the opposite sign of the value at its reference.
pub(super) fn join_aliases(
    variables: &mut [Variable],
    index: &Index,
    first: impl Fn(usize) -> usize,
    negated: &[bool],
) {
    for position in 0..variables.len() {
        let own = &variables[position];
        let key = (own.variable_type, own.value_reference);
        let Some(root) = index.by_reference(variables, key).map(&first) else { continue };
        if root != position {
            let is_negated = |at: usize| negated.get(at).copied().unwrap_or(false);
            let negated = is_negated(position) != is_negated(root);
            variables[position].alias_of = Some(AliasOf { position: root as u32, negated });
        }
    }
}

/// Whether a variable with this `initial` needs a start value.
pub(super) fn needs_start(initial: Option<Initial>) -> bool {
    matches!(initial, Some(Initial::Exact | Initial::Approx))
}
