/* What fmi3_alike.c has for the files that are not alike. */

#ifndef fmi3_alike_h
#define fmi3_alike_h

#include "fmi3Functions.h"

/* Modes in which values of an instance can be read. */
#define WITH_VALUES (INITIALIZATION | EVENT_MODE | CONTINUOUS_TIME | TERMINATED)

fmi3Status fmi3_deserialize(fmi3Instance instance, const char *function, const fmi3Byte serializedState[], size_t size,
                            fmi3FMUState *FMUState);

#endif
