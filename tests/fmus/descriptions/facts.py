#!/usr/bin/env python3
"""Writes what FMPy reads in each model description of FMI 1.0 and 2.0 of a folder, for tests/fmus/descriptions/corpus.rs.

    python3 tests/fmus/descriptions/facts.py FOLDER > tests/fmus/descriptions/facts.tsv

Needs FMPy (0.3). For each file a line with `file`, its name and the FNV-1a hash of its bytes, and behind it a line for each
column: its name, the number of entries, and the FNV-1a hash of the entries, each followed by a line feed; `refused` where FMPy
cannot read the file. With a second argument, the name of a file, its entries are
written instead of the hash.

A variable takes what it does not say from its declared type (FMI 2.0.5, 2.2.7), which FMPy leaves to its callers. Where FMPy's
reading is not the standard's, the facts are the standard's; each such place is named EXCEPTION here and in the test.
"""

import re
import struct
import sys
from pathlib import Path

from fmpy import read_model_description


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def text(value):
    return "-" if value is None else "=" + str(value)


def number(value):
    """The bits of a double."""
    return "-" if value is None else struct.pack(">d", float(value)).hex()



def flag(value):
    return "1" if value in (True, "true", "1") else "0"


def typed(variable_type, value):
    # Empty attributes say nothing: no number, no boolean is empty.
    if value is None or (value == "" and variable_type != "String"):
        return "-"
    if variable_type == "Real":
        return number(value)
    if variable_type == "Boolean":
        return flag(value)
    if variable_type == "String":
        return "=" + value
    return str(int(value))


def columns(description):
    version = description.fmiVersion
    column = {}
    root = ["fmiVersion", "modelName", "guid", "description", "author", "version", "copyright", "license"]
    root += ["generationTool", "generationDateAndTime", "variableNamingConvention"]
    column["root"] = [text(getattr(description, name)) for name in root]
    column["numberOfEventIndicators"] = [str(description.numberOfEventIndicators)]
    column["numberOfContinuousStates"] = [str(description.numberOfContinuousStates)]
    column["logCategories"] = [text(c.name) + text(c.description) for c in description.logCategories]
    experiment = description.defaultExperiment
    names = ["startTime", "stopTime", "tolerance", "stepSize"]
    column["defaultExperiment"] = [number(getattr(experiment, name, None)) for name in names]
    common = ["needsExecutionTool", "canBeInstantiatedOnlyOncePerProcess", "canNotUseMemoryManagementFunctions"]
    common += ["canGetAndSetFMUstate", "canSerializeFMUstate", "providesDirectionalDerivative"]
    me = description.modelExchange
    cs = description.coSimulation
    # EXCEPTION: of FMI 1.0 FMPy reads no capabilities and says the contrary of FMI 1.0 for Model Exchange, 3.2.2, where
    # fmiCompletedIntegratorStep is always called.
    if version != "1.0":
        own = ["needsCompletedIntegratorStep"]
        column["ModelExchange"] = [] if me is None else [me.modelIdentifier] + [
            flag(getattr(me, name)) for name in common + own
        ]
        own = ["canHandleVariableCommunicationStepSize", "canInterpolateInputs", "canRunAsynchronuously"]
        column["CoSimulation"] = [] if cs is None else [cs.modelIdentifier] + [
            flag(getattr(cs, name)) for name in common + own
        ] + [str(cs.maxOutputDerivativeOrder)]
        column["sourceFiles"] = [
            text(name)
            for configuration in description.buildConfigurations
            for files in configuration.sourceFileSets
            for name in files.sourceFiles
        ]
    else:
        column["ModelExchange"] = [] if me is None else [me.modelIdentifier]
        column["CoSimulation"] = [] if cs is None else [cs.modelIdentifier]

    si = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"]
    units = []
    for unit in description.unitDefinitions:
        base = unit.baseUnit
        units.append(text(unit.name))
        if base is not None:
            units.append(" ".join(str(getattr(base, name)) for name in si))
            units.append(number(base.factor) + number(base.offset))
        units += [text(d.name) + number(d.factor) + number(d.offset) for d in unit.displayUnits]
    column["units"] = units

    types = []
    for t in description.typeDefinitions:
        types.append(text(t.name) + " " + t.type)
        types.append(text(t.quantity) + text(t.unit) + text(t.displayUnit) + flag(t.relativeQuantity))
        types.append(flag(t.unbounded) + typed(t.type, t.min) + typed(t.type, t.max) + number(t.nominal))
        types += [text(i.name) + text(i.description) + str(int(i.value)) for i in t.items]
    column["types"] = types

    variables = description.modelVariables
    for name in ["name", "description", "type"]:
        column["variable." + name] = [text(getattr(v, name)) for v in variables]
    column["variable.valueReference"] = [str(v.valueReference) for v in variables]

    def inherited(variable, name):
        own = getattr(variable, name)
        return own if own is not None or variable.declaredType is None else getattr(variable.declaredType, name)

    for name in ["quantity", "unit"]:
        column["variable." + name] = [text(inherited(v, name)) for v in variables]

    def display_unit(variable):
        # A display unit belongs to its unit: with a unit of its own a variable does not take the type's.
        declared = variable.declaredType
        if declared is not None and variable.unit not in (None, declared.unit):
            return variable.displayUnit
        return inherited(variable, "displayUnit")

    column["variable.displayUnit"] = [text(display_unit(v)) for v in variables]
    for name in ["min", "max"]:
        column["variable." + name] = [typed(v.type, inherited(v, name)) for v in variables]
    column["variable.nominal"] = [number(inherited(v, "nominal")) for v in variables]
    column["variable.start"] = [typed(v.type, v.start) for v in variables]
    column["variable.declaredType"] = [text(v.declaredType and v.declaredType.name) for v in variables]
    column["variable.derivative"] = [text(v.derivative and v.derivative.name) for v in variables]

    causalities, variabilities, initials = [], [], []
    for v in variables:
        causality, variability, initial = v.causality, v.variability, v.initial
        if version == "1.0":
            # EXCEPTION: FMPy knows no initial of FMI 1.0, keeps the word none, and makes each parameter one that can be
            # set; without a fixed start value it cannot (FMI 1.0 for Model Exchange, 2.4 and 3.3).
            causality = "local" if causality == "none" else causality
            if causality == "parameter" and v.start is None:
                causality = "calculatedParameter"
        if variability == "continuous" and v.type != "Real":
            # EXCEPTION: only Real variables are continuous (FMI 2.0.5, 2.2.7, variability), whatever the default.
            variability = "discrete"
        causalities.append(causality)
        variabilities.append(variability)
        initials.append(text(initial))
    column["variable.causality"] = causalities
    column["variable.variability"] = variabilities
    if version != "1.0":
        column["variable.initial"] = initials
        for name in ["outputs", "derivatives", "initialUnknowns"]:
            entries = []
            for unknown in getattr(description, name):
                depends = unknown.dependencies
                kinds = getattr(unknown, "dependenciesKind", None)
                entries.append(text(unknown.variable.name))
                if depends is not None:
                    # EXCEPTION: kinds of another number than dependencies (FMI 2.0.5, 2.2.8) say nothing.
                    kinds = kinds if kinds and len(kinds) == len(depends) else ["dependent"] * len(depends)
                    entries.append(" ".join(text(d.name) + ":" + k for d, k in zip(depends, kinds)))
                else:
                    entries.append("all")
            column[name] = entries
    return column


def main():
    for file in sorted(Path(sys.argv[1]).glob("*.xml")):
        data = file.read_bytes()
        version = re.search(rb'fmiVersion\s*=\s*["\']([^"\']*)', data)
        if version is None or version[1] not in (b"1.0", b"2.0"):
            continue
        try:
            description = read_model_description(str(file), validate=False)
        except Exception as error:
            print("file", file.name, fnv(data), sep="\t")
            print("refused", 0, type(error).__name__, sep="\t")
            print(file.name, error, file=sys.stderr)
            continue
        if len(sys.argv) == 2:
            print("file", file.name, fnv(data), sep="\t")
        for name, entries in columns(description).items():
            if len(sys.argv) > 2:
                if file.name == sys.argv[2]:
                    for entry in entries:
                        print(name, entry, sep="\t")
            else:
                joined = "".join(entry + "\n" for entry in entries).encode()
                print(name, len(entries), fnv(joined), sep="\t")


main()
