/* Co-Simulation of x' = u by FMI 2.0; before this stand the headers, and GAIN. */
typedef struct { double x, u, gain; const fmi2CallbackFunctions *functions; } Model;
const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String all[]) { return fmi2OK; }
fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String place,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean log) {
    Model *m = functions->allocateMemory(1, sizeof(Model));
    if (type != fmi2CoSimulation || strcmp(guid, "{integrator}")) return NULL;
    m->x = 1.0;
    m->gain = GAIN;
    m->functions = functions;
    return m;
}
void fmi2FreeInstance(fmi2Component c) { ((Model *)c)->functions->freeMemory(c); }
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean t, fmi2Real e, fmi2Real start, fmi2Boolean s, fmi2Real stop) {
    return fmi2OK;
}
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Terminate(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2Reset(fmi2Component c) { return fmi2OK; }
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[]) {
    Model *m = c;
    for (size_t i = 0; i < n; i++) values[i] = vr[i] == 1 ? m->x : m->u;
    return fmi2OK;
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[]) {
    Model *m = c;
    for (size_t i = 0; i < n; i++) *(vr[i] == 1 ? &m->x : &m->u) = values[i];
    return fmi2OK;
}
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean noSet) {
    Model *m = c;
    m->x += m->gain * m->u * step;
    return fmi2OK;
}

/* Of other types there is a value to read, and none is kept. */
#define OTHERS(type, nothing) \
    fmi2Status fmi2Get##type(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2##type values[]) { \
        for (size_t i = 0; i < n; i++) values[i] = nothing; \
        return fmi2OK; \
    } \
    fmi2Status fmi2Set##type(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2##type values[]) { \
        return fmi2OK; \
    }
OTHERS(Integer, 0)
OTHERS(Boolean, 0)
OTHERS(String, "")
