/* Co-Simulation of x' = u by FMI 1.0; before this stand the headers, and GAIN. */
typedef struct { double x, u, gain; fmiCallbackFunctions functions; } Model;
const char *fmiGetTypesPlatform(void) { return fmiPlatform; }
const char *fmiGetVersion(void) { return fmiVersion; }
fmiStatus fmiSetDebugLogging(fmiComponent c, fmiBoolean on) { return fmiOK; }
fmiComponent fmiInstantiateSlave(fmiString name, fmiString guid, fmiString place, fmiString mime, fmiReal timeout,
                                 fmiBoolean visible, fmiBoolean interactive, fmiCallbackFunctions functions, fmiBoolean log) {
    Model *m = functions.allocateMemory(1, sizeof(Model));
    if (strcmp(guid, "{integrator}")) return NULL;
    m->x = 1.0;
    m->gain = GAIN;
    m->functions = functions;
    return m;
}
void fmiFreeSlaveInstance(fmiComponent c) { ((Model *)c)->functions.freeMemory(c); }
fmiStatus fmiInitializeSlave(fmiComponent c, fmiReal start, fmiBoolean has_stop, fmiReal stop) { return fmiOK; }
fmiStatus fmiTerminateSlave(fmiComponent c) { return fmiOK; }
fmiStatus fmiResetSlave(fmiComponent c) { return fmiOK; }
fmiStatus fmiGetReal(fmiComponent c, const fmiValueReference vr[], size_t n, fmiReal values[]) {
    Model *m = c;
    for (size_t i = 0; i < n; i++) values[i] = vr[i] == 1 ? m->x : m->u;
    return fmiOK;
}
fmiStatus fmiSetReal(fmiComponent c, const fmiValueReference vr[], size_t n, const fmiReal values[]) {
    Model *m = c;
    for (size_t i = 0; i < n; i++) *(vr[i] == 1 ? &m->x : &m->u) = values[i];
    return fmiOK;
}
fmiStatus fmiDoStep(fmiComponent c, fmiReal time, fmiReal step, fmiBoolean newStep) {
    Model *m = c;
    m->x += m->gain * m->u * step;
    return fmiOK;
}

/* Of other types there is a value to read, and none is kept. */
#define OTHERS(type, nothing) \
    fmiStatus fmiGet##type(fmiComponent c, const fmiValueReference vr[], size_t n, fmi##type values[]) { \
        for (size_t i = 0; i < n; i++) values[i] = nothing; \
        return fmiOK; \
    } \
    fmiStatus fmiSet##type(fmiComponent c, const fmiValueReference vr[], size_t n, const fmi##type values[]) { \
        return fmiOK; \
    }
OTHERS(Integer, 0)
OTHERS(Boolean, 0)
OTHERS(String, "")
