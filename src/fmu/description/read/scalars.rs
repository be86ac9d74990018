//! What FMI 1.0 and 2.0 have in common: scalar variables and types whose kind is a child element (`<Real>`, in types of
//! FMI 1.0 `<RealType>`), and aliases by value reference.
//!
//! | element | type here | values here |
//! |---|---|---|
//! | `Real` | `Float64` | `Float64` |
//! | `Integer` | `Int32` | `Int32` |
//! | `Boolean`, `String` | the same | the same |
//! | `Enumeration` | the same | `Int64`, each in the range of an `Int32`, which their C functions take |

use super::shared::{self, SharedAttributes};
use crate::fmu::description::index::Index;
use crate::fmu::description::model::{
    AliasOf, Causality, DescriptionError, EnumerationItem, Initial, TypeDefinition, ValueReference, Values,
};
use crate::fmu::description::model::{Variability, Variable, VariableType};
use crate::fmu::description::units::Units;
use crate::fmu::description::xml::{Attribute, Element};
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

/// The child that says of which type its parent is: an element of one of the five names, with `suffix` behind. Other
/// children, except those of the names `besides`, are warned of.
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
pub(super) struct Types<'a> {
    pub(super) list: Vec<TypeDefinition>,
    by_name: HashMap<&'a str, usize>,
    items: HashMap<&'a str, HashSet<i64>>,
}

/// How a text of the standard writes its types down.
pub(super) struct TypeWords {
    /// The element of a type.
    pub(super) element: &'static str,
    /// What stands behind the names of the five kinds.
    pub(super) suffix: &'static str,
    /// Whether the items of an enumeration say their values; else they count from 1.
    pub(super) has_values: bool,
}

impl<'a> Types<'a> {
    pub(super) fn read(
        definitions: Element<'a>,
        words: &TypeWords,
        units: &Units,
    ) -> Result<Types<'a>, DescriptionError> {
        let mut types = Types::default();
        for element in definitions.children() {
            if element.name() != words.element {
                element.warn_unknown(definitions);
                continue;
            }
            element.warn_of_unknown_attributes(&[&["name", "description"]]);
            let name = element.unique_name()?;
            if types.by_name.insert(name, types.list.len()).is_some() {
                return Err(element.error(format!("{}: a type with this name exists already", element.label())));
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
            types.list.push(attributes.definition(name, element.text("description"), variable_type, items));
        }
        Ok(types)
    }

    /// The type that the element `own` of a variable declares, which must exist and be of the same kind.
    fn declared(
        &self,
        own: Element<'_>,
        variable_type: VariableType,
    ) -> Result<Option<&TypeDefinition>, DescriptionError> {
        let Some(attribute) = own.attribute("declaredType") else { return Ok(None) };
        match self.by_name.get(attribute.value).map(|&position| &self.list[position]) {
            None => Err(attribute.error("is no type of <TypeDefinitions>")),
            Some(definition) if definition.variable_type != variable_type => {
                Err(attribute.error(format!("is a type of {}", kind_name(definition.variable_type))))
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
        let name = child.unique_name()?;
        if !names.insert(name) {
            child.warn(format!("{}: given twice", child.label()));
        }
        if !values.insert(value) {
            return Err(child.error(format!("{}: value {value} is given twice", child.label())));
        }
        items.push(EnumerationItem { name: name.to_owned(), value, description: child.text("description") });
    }
    Ok(items)
}

/// A scalar variable as far as both versions have the same: what else it has is for its reader to say.
pub(super) struct Scalar<'a> {
    /// With the defaults of what the versions have of their own.
    pub(super) variable: Variable,
    /// The element that says its type.
    pub(super) own: Element<'a>,
}

/// Reads a `<ScalarVariable>` of which `known` are the attributes, and `besides` its children beside the one of its type.
pub(super) fn read<'a>(
    element: Element<'a>,
    known: &[&str],
    own_known: &[&str],
    besides: &[&str],
    types: &Types<'a>,
    units: &Units,
) -> Result<Scalar<'a>, DescriptionError> {
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
    // What it takes from its type has been checked there.
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
    Ok(Scalar { variable, own })
}

/// An attribute, unless it is empty, as generators leave it that have nothing to say.
pub(super) fn written<'a>(own: Element<'a>, name: &str) -> Option<Attribute<'a>> {
    let attribute = own.attribute(name)?;
    if attribute.value.trim_ascii().is_empty() {
        attribute.warn("is empty and ignored");
        return None;
    }
    Some(attribute)
}

/// A flag; false where it is not written or empty.
pub(super) fn flag(element: Element<'_>, name: &str) -> Result<bool, DescriptionError> {
    Ok(written(element, name).map(Attribute::scalar).transpose()?.unwrap_or(false))
}

/// `start`, one value.
fn start(own: Element<'_>, variable_type: VariableType) -> Result<Option<Values>, DescriptionError> {
    let attribute = match variable_type {
        VariableType::String => own.attribute("start"),
        _ => written(own, "start"),
    };
    let Some(attribute) = attribute else { return Ok(None) };
    Ok(Some(match variable_type {
        VariableType::Float64 => Values::Float64(vec![attribute.scalar()?]),
        VariableType::Int32 => Values::Int32(vec![attribute.scalar()?]),
        VariableType::Boolean => Values::Boolean(vec![attribute.scalar()?]),
        VariableType::Enumeration => Values::Int64(vec![attribute.scalar::<i32>()?.into()]),
        _ => Values::String(vec![attribute.value.to_owned()]),
    }))
}

/// The index of variables that have different names.
pub(super) fn index(variables: &[Variable], elements: &[Element<'_>]) -> Result<Index, DescriptionError> {
    let index = Index::of(variables);
    match index.duplicate_name(variables) {
        None => Ok(index),
        Some((earlier, later)) => {
            let line = variables[earlier.variable()].line;
            let name = elements[later.variable()].required("name")?;
            Err(name.error(format!("is the name of line {line} already")))
        }
    }
}

/// Makes the first variable of each base type and reference the one that all later ones are aliases of. `negated` says of
/// a variable whether it has the opposite sign of what its reference stands for.
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

/// `initial` of what the variables' start values say, where no attribute does.
pub(super) fn needs_start(initial: Option<Initial>) -> bool {
    matches!(initial, Some(Initial::Exact | Initial::Approx))
}
