/* What a hostile or broken FMU may do, by name. */

#ifndef harm_h
#define harm_h

#include "fmi3_model.h"

/* What the function in which the harm was done answers afterwards: fmi3OK, unless the harm is a status. */
fmi3Status harm_do(const char *name, struct fmu_base *base);

#endif
