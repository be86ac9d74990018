//! The attributes that a variable takes from its declared type if it does not have them itself (FMI 2.0.5, 2.2.3; FMI
//! 3.0, 2.4.4).

use crate::model::{DescriptionError, EnumerationItem, TypeDefinition, Values, VariableType};
use crate::rules::is_float;
use crate::units::Units;
use crate::values;
use crate::xml::{Element, bits};
use std::sync::Arc;

const FLOAT: [&str; 8] = ["quantity", "unit", "displayUnit", "relativeQuantity", "unbounded", "min", "max", "nominal"];
const INTEGER: [&str; 3] = ["quantity", "min", "max"];
const BINARY: [&str; 2] = ["mimeType", "maxSize"];

/// The bits of the names of all these attributes: most variables have none of them.
const BITS: u64 = bits(&FLOAT) | bits(&INTEGER) | bits(&BINARY);

/// The attributes that both a type definition and a variable of that type may have, without those of clocks.
pub(super) fn attribute_names(variable_type: VariableType) -> &'static [&'static str] {
    match variable_type {
        VariableType::Float32 | VariableType::Float64 => &FLOAT,
        VariableType::Boolean | VariableType::String | VariableType::Clock => &[],
        VariableType::Binary => &BINARY,
        _ => &INTEGER,
    }
}

/// The values of those attributes, as written.
#[derive(Default)]
pub(super) struct SharedAttributes {
    pub(super) quantity: Option<Arc<str>>,
    pub(super) unit: Option<Arc<str>>,
    pub(super) display_unit: Option<Arc<str>>,
    pub(super) relative_quantity: Option<bool>,
    pub(super) unbounded: Option<bool>,
    pub(super) min: Option<Arc<Values>>,
    pub(super) max: Option<Arc<Values>>,
    pub(super) nominal: Option<f64>,
    pub(super) mime_type: Option<Arc<str>>,
    pub(super) max_size: Option<u64>,
}

/// The name of a unit. It is limited in length, since every variable of a type repeats it wherever variables are listed: a
/// large text in one type and many variables of it would fill memory and disk.
fn unit_name(element: Element<'_>, name: &str) -> Result<Option<Arc<str>>, DescriptionError> {
    const LIMIT: usize = 1000;
    match element.attribute(name) {
        Some(attribute) if attribute.value.len() > LIMIT => {
            Err(attribute.error(format!("is longer than {LIMIT} characters")))
        }
        attribute => Ok(attribute.map(|attribute| attribute.value.into())),
    }
}

impl SharedAttributes {
    pub(super) fn read(
        element: Element<'_>,
        variable_type: VariableType,
    ) -> Result<SharedAttributes, DescriptionError> {
        let mut shared = SharedAttributes::default();
        if !element.may_have(BITS) {
            return Ok(shared);
        }
        match variable_type {
            VariableType::Boolean | VariableType::String | VariableType::Clock => return Ok(shared),
            VariableType::Binary => {
                shared.mime_type = element.attribute("mimeType").map(|attribute| attribute.value.into());
                shared.max_size = element.scalar("maxSize")?;
                return Ok(shared);
            }
            _ => {}
        }
        shared.quantity = element.attribute("quantity").map(|attribute| attribute.value.into());
        if let Some(min) = element.attribute("min") {
            shared.min = values::single(min, variable_type)?.map(Arc::new);
        }
        if let Some(max) = element.attribute("max") {
            shared.max = values::single(max, variable_type)?.map(Arc::new);
        }
        if is_float(variable_type) {
            shared.unit = unit_name(element, "unit")?;
            shared.display_unit = unit_name(element, "displayUnit")?;
            shared.relative_quantity = element.scalar("relativeQuantity")?;
            shared.unbounded = element.scalar("unbounded")?;
            shared.nominal = match variable_type {
                VariableType::Float32 => element.scalar::<f32>("nominal")?.map(f64::from),
                _ => element.scalar("nominal")?,
            };
        }
        Ok(shared)
    }

    /// These attributes, with the declared type's where the variable has none.
    pub(super) fn or(self, declared: &TypeDefinition) -> SharedAttributes {
        // A display unit belongs to its unit: a variable with a unit of its own does not take the type's.
        let same_unit = self.unit.is_none() || self.unit == declared.unit;
        SharedAttributes {
            quantity: self.quantity.or_else(|| declared.quantity.clone()),
            display_unit: self.display_unit.or_else(|| declared.display_unit.clone().filter(|_| same_unit)),
            unit: self.unit.or_else(|| declared.unit.clone()),
            relative_quantity: self.relative_quantity.or(Some(declared.relative_quantity)),
            unbounded: self.unbounded.or(Some(declared.unbounded)),
            min: self.min.or_else(|| declared.min.clone()),
            max: self.max.or_else(|| declared.max.clone()),
            nominal: self.nominal.or(declared.nominal),
            mime_type: self.mime_type.or_else(|| declared.mime_type.clone()),
            max_size: self.max_size.or(declared.max_size),
        }
    }

    /// A type with these attributes.
    pub(super) fn definition(
        self,
        name: &str,
        description: Option<String>,
        variable_type: VariableType,
        items: Vec<EnumerationItem>,
    ) -> TypeDefinition {
        TypeDefinition {
            name: name.into(),
            description,
            variable_type,
            quantity: self.quantity,
            unit: self.unit,
            display_unit: self.display_unit,
            relative_quantity: self.relative_quantity.unwrap_or(false),
            unbounded: self.unbounded.unwrap_or(false),
            min: self.min,
            max: self.max,
            nominal: self.nominal,
            mime_type: self.mime_type,
            max_size: self.max_size,
            items,
            clock: None,
        }
    }

    /// Warns of contradictions that harm no run.
    pub(super) fn check(&self, element: Element<'_>, units: &Units) {
        if self.unit.is_some() || self.display_unit.is_some() {
            units.check(element, self.unit.as_deref(), self.display_unit.as_deref());
        }
        if let (Some(min), Some(max)) = (&self.min, &self.max)
            && values::is_above(min, max)
        {
            element.warn(format!("{}: min is greater than max", element.label()));
        }
        if self.nominal.is_some_and(|nominal| nominal.is_nan() || nominal <= 0.0)
            && let Some(nominal) = element.attribute("nominal")
        {
            nominal.warn("is no magnitude that anything could be compared with: it must be above 0");
        }
    }

    /// Warns of a start value that a variable with these attributes cannot have.
    pub(super) fn check_start(&self, element: Element<'_>, own: Element<'_>, start: Option<&Values>) {
        let outside = |start| values::outside(start, self.min.as_deref(), self.max.as_deref());
        if let Some(what) = start.and_then(outside) {
            own.warn(format!("{}: the start value {what}", element.label()));
        }
    }
}
