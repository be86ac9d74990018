/* One set of functions for FMUs of all versions, so that a test need not know which one it drives. The file of each version is linked
 * into the FMU's own library. Where a version has no such function, the call succeeds and does nothing. */

#ifndef importer_h
#define importer_h

#include <stddef.h>

struct update {
    int needs_update, terminate, nominals_changed, values_changed, has_next;
    double next;
};

#define EXPORT __attribute__((visibility("default")))

EXPORT void *importer_new(const char *token, void (*log)(const char *message));
EXPORT void importer_free(void *fmu);
EXPORT int importer_set_debug_logging(void *fmu, int on);
EXPORT int importer_number_of_states(void *fmu, size_t *n);
EXPORT int importer_number_of_indicators(void *fmu, size_t *n);
EXPORT int importer_resize(void *fmu, unsigned reference, unsigned long long value); /* in Configuration Mode */
EXPORT int importer_set_up(void *fmu, double start);
EXPORT int importer_enter_initialization(void *fmu, double start);
EXPORT int importer_exit_initialization(void *fmu, struct update *update); /* FMI 1.0: with the first event */
EXPORT int importer_enter_event_mode(void *fmu);
EXPORT int importer_update(void *fmu, struct update *update);
EXPORT int importer_enter_continuous_time(void *fmu);
EXPORT int importer_terminate(void *fmu);
EXPORT int importer_reset(void *fmu);
EXPORT int importer_set_time(void *fmu, double time);
EXPORT int importer_set_states(void *fmu, const double x[], size_t n);
EXPORT int importer_get_states(void *fmu, double x[], size_t n);
EXPORT int importer_get_derivatives(void *fmu, double dx[], size_t n);
EXPORT int importer_get_indicators(void *fmu, double z[], size_t n);
EXPORT int importer_get_nominals(void *fmu, double nominals[], size_t n);
EXPORT int importer_completed(void *fmu, int *enter_event_mode, int *terminate);
EXPORT int importer_set_real(void *fmu, unsigned reference, double value);
EXPORT int importer_get_reals(void *fmu, unsigned reference, double values[], size_t n);
EXPORT int importer_set_integer(void *fmu, unsigned reference, int value);
EXPORT int importer_get_integer(void *fmu, unsigned reference, int *value);
EXPORT int importer_set_text(void *fmu, unsigned reference, const char *value);
EXPORT int importer_directional(void *fmu, const unsigned unknowns[], size_t n_unknowns, const unsigned knowns[], size_t n_knowns,
                                const double seed[], double sensitivity[]);
EXPORT int importer_save(void *fmu, void **state);
EXPORT int importer_restore(void *fmu, void *state);
EXPORT int importer_forget(void *fmu, void **state);

#endif
